import { afterAll, describe, expect, test } from 'bun:test'
import { createMessages } from '#src/spi/index.ts'
import {
  changeStatuses,
  insertMessages,
  type NewMessage,
  noteRepetitions,
  setRepetitionOutcomes,
} from '#src/spi/messages/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase, messagesForEver, quietLogger } from '../../support/database.ts'
import { message } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const reader = testKey('messages:read')
const { routes } = createMessages({ sql, ...messagesForEver, logger: quietLogger })
const app = testApp(routes ?? [], { keys: [reader.record] })
const shown = async ({ id }: Pick<NewMessage, 'id'>) => {
  const response = await app.call('GET', `/v1/messages/${id}`, { key: reader.key })
  return (await response.json()) as Record<string, unknown>
}

describe('sent messages', () => {
  test('whose answer is overdue stay UNKNOWN when they are known to be sent; once, and with the resource id', async () => {
    const out = { direction: 'OUTBOUND', status: 'UNKNOWN', resourceId: undefined } as const
    const [late, soon] = [message(out), message(out)]
    await insertMessages(sql, [late, soon])
    const sent = ({ id }: NewMessage, isLate: boolean) =>
      ({ id, status: 'SENT', detail: 'PRIMARY', resourceId: `UEk${id}`, isLate }) as const
    const both = [sent(late, true), sent(soon, false)]
    expect(await changeStatuses(sql, both)).toEqual(new Set([soon.id]))
    expect(await changeStatuses(sql, both)).toEqual(new Set())
    expect(await shown(late)).toMatchObject({
      status: 'UNKNOWN',
      resource_id: `UEk${late.id}`,
      history: [
        { status: 'UNKNOWN', detail: null },
        { status: 'UNKNOWN', detail: 'known to be sent: PRIMARY' },
      ],
    })
    expect(await shown(soon)).toMatchObject({
      status: 'SENT',
      history: [{ status: 'UNKNOWN' }, { status: 'SENT', detail: 'PRIMARY' }],
    })
    // What is still QUEUED is SENT, however late.
    const queued = message({ ...out, status: 'QUEUED' })
    await insertMessages(sql, [queued])
    expect(await changeStatuses(sql, [sent(queued, true)])).toEqual(new Set([queued.id]))
  })

  test('have the first and the latest repetition in their history, each with time and number', async () => {
    const out = { direction: 'OUTBOUND', resourceId: undefined } as const
    const open = message({ ...out, status: 'UNKNOWN' })
    const decided = message({ ...out, status: 'ACCEPTED' })
    await insertMessages(sql, [open, decided])
    const again = (detail: string) =>
      sql.begin((tx) =>
        noteRepetitions(
          tx,
          [decided, open].map(({ id }) => ({ id, detail })),
        ),
      )
    for (let number = 1; number <= 4; number++) {
      expect(await again(`no. ${number}`)).toEqual(new Map([[open.id, number]]))
    }
    const status = 'UNKNOWN'
    const at = expect.any(String)
    const { id } = open
    await setRepetitionOutcomes(sql, [
      { id, repetition: 1, detail: 'not reached' },
      { id, repetition: 3, detail: 'overtaken' },
    ])
    expect((await shown(open))['history']).toEqual([
      { status, at, detail: null, repetition: null },
      { status, at, detail: 'not reached', repetition: 1 },
      { status, at, detail: 'no. 4', repetition: 4 },
    ])
    await changeStatuses(sql, [{ id, status: 'ACCEPTED' }])
    expect(await again('too late')).toEqual(new Map())
    expect((await shown(open))['history']).toHaveLength(4)
  })
})
