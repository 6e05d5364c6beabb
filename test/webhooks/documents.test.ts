import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageTypes } from '#codecs/iso20022'
import { eventGroups } from '#src/events/index.ts'
import { openApiDocument } from '#src/platform/http/openapi.ts'
import { eventDocuments } from '../../src/webhooks/documents.ts'
import { root } from '../support/program.ts'

/** The table of docs/webhooks.md; message types share a line. */
const table = (): string => {
  const lines = ['| Type | When | `sequence` counts by |', '|---|---|---|']
  for (const { types, subject } of Object.values(eventGroups)) {
    const others = Object.entries(types).filter(
      ([type]) => !(messageTypes as readonly string[]).includes(type),
    )
    if (others.length < Object.keys(types).length) {
      const all = messageTypes.map((type) => `\`${type}\``).join(', ')
      lines.push(`| ${all} | A message of that type was received and stored. | ${subject} |`)
    }
    for (const [type, when] of others) lines.push(`| \`${type}\` | ${when} | ${subject} |`)
  }
  return lines.join('\n')
}

test('the page of webhooks has the table of events', () => {
  expect(readFileSync(join(root, 'docs/webhooks.md'), 'utf8')).toContain(`\n${table()}\n`)
})

test('the OpenAPI document shows what each event carries', async () => {
  const document = await openApiDocument([], 'test', eventDocuments)
  const webhooks = document['webhooks'] as Record<string, { post: { requestBody: object } }>
  expect(Object.keys(webhooks).sort()).toEqual(
    Object.values(eventGroups)
      .flatMap(({ types }) => Object.keys(types))
      .sort(),
  )
  expect(JSON.stringify(document['components'])).toContain('captured_amount')
  expect(JSON.stringify(webhooks['card.transaction.voided'])).toContain(
    'ReceiveCardTransactionVoidedRequest',
  )
  expect(JSON.stringify(document['components'])).toContain('schemas/CardTransactionEvent')
})
