import { afterAll, expect, test } from 'bun:test'
import { findAnswered } from '#src/spi/in/worker/store.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import { createTestDatabase } from '../../../support/database.ts'
import { message } from '../../messages/support.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql } = database

const dayMs = 86_400_000
const now = new Date()
const before = (days: number): Date => new Date(now.getTime() - days * dayMs)
const minuteOf = (at: Date): string => at.toISOString().replace(/\D/g, '').slice(0, 12)

let serial = 0
const idMade = (letter: 'E' | 'D', at: Date): string =>
  `${letter}12345678${minuteOf(at)}${String(serial++).padStart(11, '0')}`

type Sent = {
  readonly type: 'pacs.008' | 'pacs.004' | 'camt.055'
  readonly at: Date
  readonly endToEndId: string
  readonly instructionId?: string
  readonly status?: 'SENT' | 'REJECTED'
}

const stored = async ({ type, at, endToEndId, instructionId, status = 'SENT' }: Sent) => {
  const [transaction] = message().transactions
  const sent = message(
    {
      type,
      direction: 'OUTBOUND',
      status,
      transactions: [{ ...transaction!, endToEndId, instructionId }],
    },
    at,
  )
  await insertMessages(sql, [sent])
  return sent.id
}

const found = async ({ type, endToEndId, instructionId }: Sent): Promise<readonly string[]> => {
  const answer = {
    kind: 'transaction',
    types: [type],
    outcome: 'ACCEPTED',
    status: 'ACSC',
  } as const
  const rows = await findAnswered(
    sql,
    [{ ...answer, endToEndId, instructionId, reason: undefined }],
    now,
  )
  return rows.map(({ message }) => message.id)
}

test.each([
  ['sent when its id was made', 0, 0],
  ['sent five minutes before midnight of the day after', 1, 0.004],
  ['scheduled weeks after its id was made', 30, 0],
  ['sent longer ago than an answer may take, on the day of its id', 60, 60],
  ['sent by a process whose clock ran weeks ahead', 0, -40],
])('an answer finds a payment %s', async (_, madeDays, sentDays) => {
  const endToEndId = idMade('E', before(madeDays))
  const sent = { type: 'pacs.008', at: before(sentDays), endToEndId } as const
  const id = await stored(sent)
  expect(await found(sent)).toEqual([id])
})

test.each([[5], [60]])(
  'an answer finds what was sent again after it was refused %d days ago',
  async (days) => {
    const sent = { type: 'pacs.008', endToEndId: idMade('E', before(days)) } as const
    const refused = await stored({ ...sent, at: before(days), status: 'REJECTED' })
    expect(await found({ ...sent, at: now })).toEqual([refused])
    await sql`delete from spi_message_keys where key = ${sent.endToEndId}`
    const again = await stored({ ...sent, at: before(1) })
    expect(await found({ ...sent, at: now })).toEqual([again])
  },
)

test('an answer finds a return of an old payment by the id of the return', async () => {
  const sent = {
    ...({ type: 'pacs.004', at: now, endToEndId: idMade('E', before(89)) } as const),
    instructionId: idMade('D', now),
  }
  const id = await stored(sent)
  expect(await found(sent)).toEqual([id])
  expect(await found({ ...sent, instructionId: idMade('D', now) })).toEqual([])
})

test('an answer finds the last of many returns of one payment', async () => {
  const payment = { type: 'pacs.008', at: before(1), endToEndId: idMade('E', before(1)) } as const
  const paid = await stored(payment)
  let last = { ...payment, type: 'pacs.004', at: now, instructionId: '' } as Sent
  let id = ''
  for (let made = 0; made < 40; made++) {
    const at = new Date(now.getTime() - 60_000 + made * 1_000)
    last = { ...last, at, instructionId: idMade('D', at) }
    id = await stored(last)
  }
  expect(await found(last)).toEqual([id])
  expect(await found({ ...last, endToEndId: idMade('E', before(1)) })).toEqual([])
  expect(await found(payment)).toEqual([paid])
})

test('an answer is about the cancellation that it cites, whenever that was sent and whatever became of it', async () => {
  const about = { type: 'camt.055', endToEndId: idMade('E', before(20)) } as const
  const first = await stored({ ...about, at: before(5), instructionId: 'CA1', status: 'REJECTED' })
  const second = await stored({ ...about, at: before(20), instructionId: 'CA2' })
  const third = await stored({ ...about, at: before(4), instructionId: 'CA3' })
  const cited = (instructionId?: string) =>
    found({ ...about, at: now, ...(instructionId && { instructionId }) })
  expect(await cited('CA1')).toEqual([first])
  expect(await cited('CA2')).toEqual([second])
  expect(await cited('CA3')).toEqual([third])
  // What cites none of them may be about each that is open.
  for (const none of ['CA4', 'D4', undefined]) expect(await cited(none)).toEqual([second, third])
})

test.each(['E1', 'E12345678999999999999', 'F0000000000000', '', 'E12345678000000000000'])(
  'an id that tells no moment is looked for all the same: %p',
  async (endToEndId) => {
    const sent = { type: 'pacs.008', at: now, endToEndId } as const
    const id = await stored(sent)
    expect(await found(sent)).toEqual([id])
  },
)

test('answers to one payment are all about it, and it is looked for once', async () => {
  const [one, other] = [idMade('E', before(1)), idMade('E', before(1))]
  const id = await stored({ type: 'pacs.008', at: before(1), endToEndId: one })
  const answers = [one, other, one, one].map(
    (endToEndId) =>
      ({
        kind: 'transaction',
        types: ['pacs.008'],
        outcome: 'ACCEPTED',
        status: 'ACSC',
        endToEndId,
        instructionId: endToEndId,
        reason: undefined,
      }) as const,
  )
  const asked: number[] = []
  const counting = new Proxy(sql, {
    apply: (_, self, args: [TemplateStringsArray, ...unknown[]]) => {
      const rows = args.slice(1).find((value) => typeof value === 'string' && value[0] === '[')
      if (rows !== undefined) asked.push(JSON.parse(String(rows)).length)
      return Reflect.apply(sql, self, args)
    },
  })
  const all = await findAnswered(counting, answers, now)
  expect(all.map(({ place, message: sent }) => [place, sent.id])).toEqual([
    [0, id],
    [2, id],
    [3, id],
  ])
  // The other is looked for where its id says, and then further.
  expect(asked).toEqual([2, 1])
})
