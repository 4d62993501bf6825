// The official TypeScript SDK 1.x as a client that subscribes to a resource and says what it hears. Arguments: the
// address of the server, the address of the resource.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

const [url, uri] = process.argv.slice(2)
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const client = new Client({ name: 'listener', version: '1' })
client.setNotificationHandler(ResourceUpdatedNotificationSchema, async ({ params }) => {
  const { contents } = await client.readResource({ uri: params.uri })
  say({ event: 'updated', uri: params.uri, text: contents[0].text })
})
await client.connect(new StreamableHTTPClientTransport(new URL(url)))
await client.subscribeResource({ uri })
say({ event: 'ready' })
