import { expect, test } from 'bun:test'
import { loadSettings } from '#src/platform/config/index.ts'
import { webhookSettings } from '../../src/webhooks/config.ts'

const load = (secret: string) => loadSettings({ webhookSettings }, { WEBHOOK_SECRET: secret })
const encoded = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`

const taken = ['a', 'my-secret', encoded(1), encoded(64)]
test.each(taken)('%s is taken for WEBHOOK_SECRET', (secret) => {
  const { values, problems } = load(secret)
  expect(problems).toEqual([])
  expect(values.webhookSettings.secret).toBe(secret)
})

const refused = [encoded(65), `${encoded(32)}!`, 'whsec_of another form']
test.each(refused)('%s is refused for it, as for an endpoint', (secret) => {
  const { problems } = load(secret)
  expect(problems.map(({ name }) => name)).toEqual(['WEBHOOK_SECRET'])
  expect(JSON.stringify(problems)).not.toContain(secret)
})
