// The conformance suites' fixtures as data: an ordinary worker whose functions become the tools and
// whose prompts become the prompts that the scenarios ask for. Argument: the engine's address.
// Says `ready` on stdout once everything is registered.

import { setTimeout as sleep } from 'node:timers/promises'
import { registerWorker } from 'iii-new'

// The SDK logs to the console, and stdout belongs to the harness.
for (const level of ['log', 'info', 'debug', 'warn']) console[level] = console.error

const iii = registerWorker(process.argv[2], { workerName: 'conformance' })

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
let changes = 0

const register = (name, args, handler) =>
  iii.trigger({
    function_id: 'prompts::register',
    payload: { name, description: `Fixture ${name}.`, arguments: args, function_id: `conformance::${handler}` },
  })

const text = (text) => ({ type: 'text', text })
const image = { type: 'image', data: PNG, mimeType: 'image/png' }
const resource = (uri, mimeType, text) => ({ type: 'resource', resource: { uri, mimeType, text } })

const tools = {
  test_simple_text: async () => 'This is a simple text response for testing.',
  test_image_content: async () => ({ content: [image] }),
  test_audio_content: async () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: async () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: async () => ({
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: async () => {
    throw new Error('This tool intentionally returns an error for testing')
  },
  // A caller with a progress token gets a notification every second.
  test_tool_with_progress: async () => {
    await sleep(3_500)
    return 'Done.'
  },
  // Sends no log message, because no client requested any.
  test_logging_tool: async () => 'Done.',
  // Sends no request to the client.
  test_streaming_elicitation: async () => 'Done.',
  test_trigger_tool_change: async () => {
    iii.registerFunction(`conformance::dynamic-${changes++}`, async () => 'Done.', { description: 'Came later.' })
    return 'Done.'
  },
  test_trigger_prompt_change: async () => {
    await register(`dynamic-${changes++}`, [], 'test_simple_prompt')
    return 'Done.'
  },
}
for (const [id, handler] of Object.entries(tools)) {
  iii.registerFunction(id, handler, { description: `Fixture ${id}.` })
}
iii.registerFunction('json_schema_2020_12_tool', async (input) => input, {
  description: 'Fixture with a schema of 2020-12.',
  request_format: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
})

const user = (content) => ({ messages: [{ role: 'user', content }] })
const argument = (name) => ({ name, description: `Fixture ${name}.`, required: true })
const prompts = {
  test_simple_prompt: [[], async () => 'This is a simple prompt for testing.'],
  test_prompt_with_arguments: [
    [argument('arg1'), argument('arg2')],
    async ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  ],
  test_prompt_with_embedded_resource: [
    [argument('resourceUri')],
    async ({ resourceUri }) => ({
      messages: [
        { role: 'user', content: resource(resourceUri, 'text/plain', 'Embedded resource content for testing.') },
        { role: 'user', content: text('Please process the embedded resource above.') },
      ],
    }),
  ],
  test_prompt_with_image: [[], async () => user(image)],
}
for (const [name, [, handler]] of Object.entries(prompts)) {
  iii.registerFunction(`conformance::${name}`, handler, { description: `Renders ${name}.` })
}
for (const [name, [args]] of Object.entries(prompts)) await register(name, args, name)
await iii.trigger({
  function_id: 'skills::register',
  payload: { id: 'conformance', skill: '# Conformance\n\nA skill for the suites to list.\n' },
})
process.stdout.write('ready\n')
