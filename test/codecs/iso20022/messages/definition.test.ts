import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import {
  definitionOf,
  type MessageDefinition,
  type MessageType,
  messageDefinitions,
  messageTypes,
} from '#codecs/iso20022'
import { eventTypes } from '#src/events/index.ts'
import { root } from '../../../support/program.ts'

/*
 * A definition that lacks anything does not compile: each line below is an error to the compiler, and it would be an
 * error of the compiler's if it were none. `bun run check` compiles the tests.
 */
describe('a definition', () => {
  const whole: MessageDefinition<MessageType> = messageDefinitions['pibr.001']
  const { type, revisions, versions, schemas, read, builder, projection, facts, exchange } = whole

  test('has everything, or the compiler names what is forgotten', () => {
    const incomplete: readonly MessageDefinition<MessageType>[] = [
      // @ts-expect-error type
      { revisions, versions, schemas, read, builder, projection, facts, exchange },
      // @ts-expect-error revisions
      { type, versions, schemas, read, builder, projection, facts, exchange },
      // @ts-expect-error versions
      { type, revisions, schemas, read, builder, projection, facts, exchange },
      // @ts-expect-error schemas
      { type, revisions, versions, read, builder, projection, facts, exchange },
      // @ts-expect-error read
      { type, revisions, versions, schemas, builder, projection, facts, exchange },
      // @ts-expect-error builder
      { type, revisions, versions, schemas, read, projection, facts, exchange },
      // @ts-expect-error projection
      { type, revisions, versions, schemas, read, builder, facts, exchange },
      // @ts-expect-error facts
      { type, revisions, versions, schemas, read, builder, projection, exchange },
      // @ts-expect-error exchange
      { type, revisions, versions, schemas, read, builder, projection, facts },
    ]
    expect(incomplete).toHaveLength(Object.keys(whole).length)
  })

  test('says all of its facts, and names none but the types there are', () => {
    const { transaction, checks, rules, answers } = facts
    const { role, tokens, answeredWith } = exchange
    const wrong: readonly MessageDefinition<MessageType>[] = [
      // @ts-expect-error transaction
      { ...whole, facts: { checks, rules, answers } },
      // @ts-expect-error checks
      { ...whole, facts: { transaction, rules, answers } },
      // @ts-expect-error rules
      { ...whole, facts: { transaction, checks, answers } },
      // @ts-expect-error answers
      { ...whole, facts: { transaction, checks, rules } },
      // @ts-expect-error role
      { ...whole, exchange: { tokens, answeredWith } },
      // @ts-expect-error tokens
      { ...whole, exchange: { role, answeredWith } },
      // @ts-expect-error answeredWith
      { ...whole, exchange: { role, tokens } },
      // @ts-expect-error there is no pacs.999
      { ...whole, exchange: { role, tokens, answeredWith: 'pacs.999' } },
      // @ts-expect-error nor is it answered
      { ...whole, facts: { ...facts, answers: { about: 'transaction', to: ['pacs.999'] } } },
      // @ts-expect-error a revision is forgotten
      { ...whole, revisions: { '5.08.1': revisions['5.08.1'] } },
    ]
    expect(wrong.length).toBeGreaterThan(0)
  })
})

describe('the definitions', () => {
  test('are all there is: every type can be subscribed to, and has the schemas that it names', () => {
    expect(messageTypes).toHaveLength(27)
    for (const type of messageTypes) {
      const { schemas, versions, revisions } = definitionOf(type)
      expect(definitionOf(type).type).toBe(type)
      expect(eventTypes).toContain(type)
      for (const file of Object.values(versions)) expect(schemas[file]).toContain('<xs:schema')
      for (const { version } of Object.values(revisions)) expect(versions).toHaveProperty([version])
    }
  })

  test('are the only list of types: no other file names more than a dozen', async () => {
    const lists: string[] = []
    for await (const file of new Glob('{codecs,src}/**/*.ts').scan(root)) {
      if (file.startsWith('codecs/iso20022/messages/')) continue
      const text = await Bun.file(`${root}/${file}`).text()
      const named = new Set(text.match(/(?<=')(?:pacs|pain|camt|admi|pibr|reda|trck)\.\d{3}(?=')/g))
      if (named.size > 12) lists.push(file)
    }
    expect(lists).toEqual([])
  })
})
