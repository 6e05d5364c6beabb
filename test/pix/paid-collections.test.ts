/** Payments of charges of recurrences that come otherwise than they were asked for. */
import { afterAll, describe, expect, test } from 'bun:test'
import { startAutomatic } from './automatic.ts'
import type { Json } from './support.ts'

const {
  pix,
  key,
  right,
  answer,
  datedId,
  approved,
  cobrBody,
  ofCharge,
  scheduledCharge,
  pay,
  settle,
  statuses,
  at,
  now,
} = await startAutomatic()
afterAll(() => pix.database.close())

describe('a payment of an attempt to another receiver', () => {
  const bia = { creditorDocument: '98765432000198', text: 'for bia alone' }

  test('is refused, and concludes nothing if it settles all the same', async () => {
    const { txid, endToEndId } = await scheduledCharge(await approved())
    expect(await pay(endToEndId, 1n, bia)).toBe('UPAY')
    await settle(endToEndId)
    const shown = await right('GET', `/cobr/${txid}`)
    expect(shown).toMatchObject({ status: 'ATIVA', tentativas: [{ status: 'AGENDADA' }] })
    expect(shown).not.toHaveProperty('pix')
  })

  test('concludes nothing either if it does not say that it was scheduled', async () => {
    const { txid, endToEndId } = await scheduledCharge(await approved())
    await pay(endToEndId, 1n, { ...bia, localInstrument: 'MANU' })
    await settle(endToEndId)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'ATIVA' })
  })
})

describe('a payment with the EndToEndId of an attempt that is not what was asked for', () => {
  const other = '52998224725'
  const others: readonly (readonly [string, bigint, Json, string])[] = [
    ['of less, begun by hand', 1n, { localInstrument: 'MANU' }, 'accepted'],
    ['of more, to a key', 3_501n, { localInstrument: 'DICT', creditorKey: key }, 'accepted'],
    ['of less, as it was scheduled', 1n, {}, 'BE17'],
    ['to another receiver of the account', 3_500n, { creditorDocument: other }, 'UPAY'],
    [
      'to another receiver of the account, by hand',
      3_500n,
      { localInstrument: 'MANU', creditorDocument: other },
      'accepted',
    ],
  ]

  test.each(others)('%s is a Pix like any other', async (_, cents, more, answer) => {
    await pix.receiver('ana', other)
    const idRec = await approved()
    const { txid, endToEndId } = await scheduledCharge(idRec)
    expect(await pay(endToEndId, cents, more)).toBe(answer)
    // While it has no end, it keeps nobody from the charge.
    await ofCharge(endToEndId, 'refused', 'AM04')
    await settle(endToEndId)
    const shown = await right('GET', `/cobr/${txid}`)
    expect(shown).toMatchObject({ status: 'ATIVA', tentativas: [{ status: 'REJEITADA' }] })
    expect(shown).not.toHaveProperty('pix')
    expect(await right('GET', `/pix/${endToEndId}`)).toMatchObject({ endToEndId })
    await right('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'CANCELADA' })
  })

  test('concludes it, however it was begun, if it is', async () => {
    const { txid, endToEndId } = await scheduledCharge(await approved())
    await pay(endToEndId, 3_500n, { localInstrument: 'MANU' })
    await settle(endToEndId)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      status: 'CONCLUIDA',
      pix: [{ endToEndId }],
    })
  })

  test('concludes it, too, if a version before this one has written it down', async () => {
    const { txid, endToEndId } = await scheduledCharge(await approved())
    await pay(endToEndId)
    await pix.sql`update pix_received set receiver_tax_id = null where end_to_end_id = ${endToEndId}`
    await settle(endToEndId)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'CONCLUIDA' })
  })
})

describe('a payment that settles though its charge was ended', () => {
  const cancelled = async (idRec: string) => {
    const one = await scheduledCharge(idRec)
    await right('PATCH', `/cobr/${one.txid}`, { status: 'CANCELADA' })
    return one
  }

  test('concludes it, and no end is shown any more', async () => {
    const { txid, endToEndId } = await cancelled(await approved())
    expect(await pay(endToEndId)).toBe('CN01')
    await settle(endToEndId)
    const shown = await right('GET', `/cobr/${txid}`)
    expect(shown).toMatchObject({ status: 'CONCLUIDA', pix: [{ endToEndId }] })
    expect(shown).not.toHaveProperty('encerramento')
  })

  test('is kept where another charge has taken the cycle, cancelled or rejected', async () => {
    const idRec = await approved()
    const one = await cancelled(idRec)
    const two = await scheduledCharge(idRec)
    await ofCharge(two.endToEndId, 'refused', 'DENC')
    const three = await right('POST', '/cobr', cobrBody(idRec))
    for (const [{ txid, endToEndId }, status] of [
      [one, 'CANCELADA'],
      [two, 'REJEITADA'],
    ] as const) {
      await pay(endToEndId)
      await settle(endToEndId)
      expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
        status,
        encerramento: {},
        tentativas: [{ status: 'PAGA' }],
        pix: [{ endToEndId, valor: '35.00' }],
      })
    }
    expect(await right('GET', `/cobr/${three.txid}`)).toMatchObject({ status: 'CRIADA' })
    // The cycle is free again: the next that settles takes it, and the one after that does not.
    await right('PATCH', `/cobr/${three.txid}`, { status: 'CANCELADA' })
    const [four, five] = [await cancelled(idRec), await cancelled(idRec)]
    for (const { endToEndId } of [four, five]) await pay(endToEndId)
    await pix.sql.begin(async (tx) => {
      const ends = [four, five].map(({ endToEndId }) => ({
        endToEndId,
        returnId: null,
        isSettled: true,
        reason: null,
      }))
      await pix.receivables?.end(tx, ends, new Date())
    })
    const statuses = [four, five].map(
      async ({ txid }) => (await right('GET', `/cobr/${txid}`)).status,
    )
    expect((await Promise.all(statuses)).toSorted()).toEqual(['CANCELADA', 'CONCLUIDA'])
  })
})

describe('a payment that is under way when the recurrence ends', () => {
  const ends: readonly (readonly [string, (idRec: string) => Promise<unknown>])[] = [
    ['by its receiver', (idRec) => right('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })],
    [
      'by its payer',
      (idRec) =>
        answer(idRec, 'cancellation_requested', {
          type: 'pain.011',
          reason: 'SLDB',
          requestId: datedId('IC'),
        }),
    ],
  ]
  const payingAtTheEnd = async (end: (idRec: string) => Promise<unknown>) => {
    const idRec = await approved()
    const next = cobrBody(idRec, { calendario: { dataDeVencimento: '2026-04-20' } })
    const later = await right('POST', '/cobr', next)
    const one = await scheduledCharge(idRec)
    expect(await pay(one.endToEndId)).toBe('accepted')
    await end(idRec)
    expect(await right('GET', `/cobr/${later.txid}`)).toMatchObject({ status: 'CANCELADA' })
    const shown = await right('GET', `/cobr/${one.txid}`)
    expect(shown).toMatchObject({ status: 'ATIVA', tentativas: [{ status: 'AGENDADA' }] })
    expect(shown).not.toHaveProperty('encerramento')
    return one
  }

  test.each(ends)('%s concludes its charge once it settles', async (_, end) => {
    const { txid, endToEndId } = await payingAtTheEnd(end)
    await settle(endToEndId)
    const shown = await right('GET', `/cobr/${txid}`)
    expect(shown).toMatchObject({ status: 'CONCLUIDA', tentativas: [{ status: 'PAGA' }] })
    expect(shown.atualizacao).toHaveLength(3)
  })

  test.each(ends)('%s leaves its charge cancelled once it does not', async (_, end) => {
    const { txid, endToEndId } = await payingAtTheEnd(end)
    await settle(endToEndId, false)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      status: 'CANCELADA',
      tentativas: [{ status: 'CANCELADA' }],
      encerramento: { cancelamento: { codigo: 'CCLD' } },
    })
  })
})

describe('a payment that is under way when the last day of its charge is over', () => {
  const payingAtMidnight = async () => {
    const one = await scheduledCharge(await approved({ politicaRetentativa: 'NAO_PERMITE' }))
    expect(await at('2026-03-21T02:50:00Z', () => pay(one.endToEndId))).toBe('accepted')
    await at('2026-03-21T04:00:00Z', pix.sweep)
    expect(await right('GET', `/cobr/${one.txid}`)).toMatchObject({
      status: 'ATIVA',
      tentativas: [{ status: 'AGENDADA' }],
    })
    return one
  }

  test('concludes it once it settles', async () => {
    const { txid, endToEndId } = await payingAtMidnight()
    await at('2026-03-21T04:10:00Z', () => settle(endToEndId))
    const shown = await right('GET', `/cobr/${txid}`)
    expect(statuses(shown)).toEqual(['CRIADA', 'ATIVA', 'CONCLUIDA'])
  })

  test('lets it expire at once where it does not settle', async () => {
    const { txid, endToEndId } = await payingAtMidnight()
    await at('2026-03-21T04:10:00Z', () => settle(endToEndId, false))
    await at('2026-03-21T04:10:00Z', pix.sweep)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      status: 'EXPIRADA',
      tentativas: [{ status: 'EXPIRADA' }],
    })
  })
})

test('a payment that does not settle leaves the charge of a recurrence that goes on as it is', async () => {
  const { txid, endToEndId } = await scheduledCharge(await approved())
  await pay(endToEndId)
  await settle(endToEndId, false)
  expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
    status: 'ATIVA',
    tentativas: [{ status: 'AGENDADA' }],
  })
})

describe('what the webhook of charges is told', () => {
  const told = async (txid: string): Promise<readonly Json[]> => {
    const rows = await pix.sql<{ full: string }[]>`
      select data_full as "full" from webhook_events where subject = ${txid} order by id`
    return rows.flatMap(({ full }) => JSON.parse(full).cobsr)
  }
  const giveBack = async (endToEndId: string, id: string): Promise<void> => {
    await pix.sql`
      insert into pix_returns (end_to_end_id, id, return_id, amount_cents, nature, requested_at)
      values (${endToEndId}, ${id}, ${datedId('D')}, 100, 'ORIGINAL', now())`
  }
  const endReturns = (endToEndId: string, isSettled: boolean) =>
    pix.sql.begin(async (tx) => {
      const rows = await tx<{ returnId: string }[]>`
        select return_id as "returnId" from pix_returns
        where end_to_end_id = ${endToEndId} and status = 'EM_PROCESSAMENTO'`
      const ends = rows.map(({ returnId }) => ({ endToEndId, returnId, isSettled, reason: null }))
      await pix.receivables?.end(tx, ends, now())
    })

  test('holds the Pix of a charge that is paid, and each end of its returns', async () => {
    await right('PUT', '/webhookcobr', { webhookUrl: 'https://pix.example.com/api/' })
    const { txid, endToEndId } = await scheduledCharge(await approved())
    await pay(endToEndId)
    await settle(endToEndId)
    const shown = async (): Promise<Json> => (await right('GET', `/cobr/${txid}`)).pix
    const paid = await shown()
    await giveBack(endToEndId, 'd1')
    await endReturns(endToEndId, true)
    const once = await shown()
    await giveBack(endToEndId, 'd2')
    await endReturns(endToEndId, false)
    expect((await shown())[0].devolucoes).toMatchObject([
      { id: 'd1', status: 'DEVOLVIDO' },
      { id: 'd2', status: 'NAO_REALIZADO' },
    ])
    expect((await told(txid)).map(({ status, pix: of }) => [status, of])).toEqual([
      ['CRIADA', undefined],
      ['ATIVA', undefined],
      ['CONCLUIDA', paid],
      ['CONCLUIDA', once],
      ['CONCLUIDA', await shown()],
    ])
  })

  test('is nothing of what is given back of a Pix that does not pay the charge', async () => {
    const { txid, endToEndId } = await scheduledCharge(await approved())
    await pay(endToEndId, 1n, { localInstrument: 'MANU' })
    await settle(endToEndId)
    const before = await told(txid)
    await giveBack(endToEndId, 'd1')
    await endReturns(endToEndId, true)
    expect(await told(txid)).toEqual(before)
  })
})
