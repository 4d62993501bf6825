import { registerWorker } from 'iii-sdk'

const iii = registerWorker(process.env.III_URL ?? 'ws://127.0.0.1:49134')
const call = (function_id, payload) => iii.trigger({ function_id, payload })

// A slash command is a function that renders its text, and a name for it.
iii.registerFunction('demo::greet', async ({ name }) => ({ content: `Greet ${name} warmly.` }))
// A section is a function whose output is read at iii://fn/demo/guide.
iii.registerFunction('demo::guide', async () => '# Guide\n\nThe long version.')

await call('skills::register', {
  id: 'demo',
  skill: '# Demo\n\nWhen to greet.\n\nMore: [guide](iii://fn/demo/guide)\n',
})
await call('prompts::register', {
  name: 'greet',
  description: 'Compose a greeting.',
  arguments: [{ name: 'name', description: 'Who to greet', required: true }],
  function_id: 'demo::greet',
})

// Read both back, as a client does.
console.log(await call('skill::fetch', { uris: ['iii://demo', 'iii://fn/demo/guide'] }))
const { messages } = await call('prompts::mcp-get', { name: 'greet', arguments: { name: 'Ada' } })
console.log(`/greet Ada: ${messages[0].content.text}`)
console.log('Published. This worker stays up for its handlers; Ctrl-C ends it.')
