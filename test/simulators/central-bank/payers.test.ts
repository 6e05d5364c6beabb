/** Pix Automático: the bank in the place of the institutions of payers. */
import { afterEach, describe, expect, test } from 'bun:test'
import {
  type CentralBank,
  createCentralBank,
  type Fault,
} from '../../../src/simulators/central-bank/index.ts'
import {
  answerTo,
  build,
  createParticipant,
  type Received,
  transfer,
} from '../../support/participant.ts'
import { until } from '../../support/until.ts'
import { generated, violations } from './support.ts'

const ispb = '12345678'
const payer = '99999010'
const txid = 'CHARGE2026030001ABCDEFGHIJ'
const dayMs = 86_400_000
let bank: CentralBank | undefined
let nowMs = Date.now()

const open = async (...faults: readonly Fault[]) => {
  nowMs = Date.now()
  bank = await createCentralBank({
    // Days pass in a moment.
    longPollMs: 100,
    streamIdleMs: 10 * dayMs,
    now: () => nowMs,
  })
  bank.setFaults(faults)
  const { url, secondaryUrl } = bank
  const [us, scheduled] = [createParticipant(url, ispb), createParticipant(secondaryUrl, ispb)]
  return { bank, us, scheduled }
}

afterEach(async () => {
  const { balanced } = bank?.book() ?? { balanced: true }
  await bank?.stop()
  bank = undefined
  expect(balanced).toBe(true)
})

const textOf = ({ xml }: Received, name: string) => new RegExp(`<${name}>([^<]*)<`).exec(xml)?.[1]

describe('a mandate', () => {
  const said = (answer: Received) => [textOf(answer, 'Accptd'), textOf(answer, 'MndtSts')]

  test('is received, then confirmed by journey 1; its end is told; each with an id of its own', async () => {
    const { us } = await open()
    await us.send(generated('pain.009', '1.1', ispb))
    const answers = await us.receive(2)
    expect(answers.map(said)).toEqual([
      ['true', 'PDNG'],
      ['true', 'CFDB'],
    ])
    expect(answers.map((answer) => textOf(answer, 'MndtPrcgTp'))).toEqual(['AUT1', 'AUT1'])
    await us.send(generated('pain.011', '1.3', ispb))
    const all = [...answers, ...(await us.receive())]
    expect(all.map(said).at(-1)).toEqual(['true', 'CCLD'])
    expect(all.map((answer) => textOf(answer, 'MndtRef')?.slice(0, 2))).toEqual(['SC', 'SC', 'IC'])
    expect(new Set(all.map((answer) => textOf(answer, 'MndtReqId'))).size).toBe(3)
    expect(all.flatMap(violations)).toEqual([])
  })

  test('is refused, or left without a word, as faults say', async () => {
    const { us, bank } = await open(
      { kind: 'mandate_unanswered', times: 1 },
      { kind: 'mandate_pending', times: 1 },
      { kind: 'mandate_refused', code: 'AP14' },
    )
    await us.send(generated('pain.009', '1.1', ispb))
    await us.send(generated('pain.009', '1.1', ispb))
    await us.send(generated('pain.009', '1.1', ispb))
    await us.send(generated('pain.011', '1.3', ispb))
    const answers = await us.receive(4)
    expect(answers.map((answer) => [...said(answer), textOf(answer, 'Prtry')])).toEqual([
      ['true', 'PDNG', undefined],
      ['true', 'PDNG', undefined],
      ['false', undefined, 'AP14'],
      ['false', undefined, 'AP14'],
    ])
    expect(answers.flatMap(violations)).toEqual([])
    expect(bank.statistics().sent).toBe(4)
  })
})

const charge = (more: object = {}) =>
  build(ispb, 'PAIN013', {
    charges: [
      {
        reconciliation_id: txid,
        amount: 4_990,
        purpose: 'AGND',
        mandate_id: 'RR123456782026030100000000001',
        due_date: '2099-04-05',
        execution_date_time: new Date(nowMs + 2 * dayMs).toISOString(),
        debtor: { ispb: payer, document: '98765432100' },
        creditor: { document: '12345678000195', account_num: '500100', account_type: 'CACC' },
        ...more,
      },
    ],
  })
const cancellation = (endToEndId: string, from = ispb) =>
  build(from, 'CAMT055', {
    reconciliation_id: txid,
    original_end_to_end_id: endToEndId,
    counterparty_ispb: payer,
    cancellation_id: `CA${from}20260302${'c'.repeat(11)}`,
    processing_type: 'DHSR',
    requester_document: '12345678000195',
    reason: 'SLCR',
  })

describe('a charge', () => {
  test('is paid when its time comes, with its EndToEndId, over the channel of what is scheduled', async () => {
    const { us, scheduled, bank } = await open()
    await us.send(charge())
    const [accepted] = await us.receive()
    if (accepted === undefined) throw new Error('nothing came')
    expect([accepted.type, textOf(accepted, 'TxSts')]).toEqual(['pain.014', 'ACSP'])
    const endToEndId = textOf(accepted, 'OrgnlEndToEndId')
    expect(bank.book().operations).toEqual([])
    nowMs += 2 * dayMs
    const [paid] = await scheduled.receive()
    if (paid?.message?.type !== 'pacs.008') throw new Error('no pacs.008')
    expect(paid.message.groupHeader).toMatchObject({
      instructionPriority: 'NORM',
      serviceLevel: 'PAGAGD',
    })
    expect(paid.message.transactions).toMatchObject([
      {
        endToEndId,
        transactionId: txid,
        localInstrument: 'AUTO',
        amount: { cents: 4_990n },
        debtorAgentIspb: payer,
        creditorAgentIspb: ispb,
      },
    ])
    expect([accepted, paid].flatMap(violations)).toEqual([])
    await scheduled.sendAll([answerTo(ispb, paid)])
    const [settled] = await scheduled.receive()
    expect(settled?.xml).toContain('ACCC')
    expect(bank.book().operations).toMatchObject([{ state: 'settled', payer, receiver: ispb }])
    // What is paid is not taken back, nor paid again.
    await us.send(cancellation(endToEndId ?? ''))
    const [refused] = await us.receive()
    expect(refused && textOf(refused, 'PmtInfCxlSts')).toBe('RJCR')
    expect(bank.payCharge(endToEndId ?? '')).toBe(false)
  })

  test('is paid before its time when the bank is asked to; nobody is asked for one that is not there', async () => {
    const { us, scheduled, bank } = await open()
    await us.send(charge({ execution_date_time: undefined, purpose: 'NTAG' }))
    const [accepted] = await us.receive()
    const id = accepted && textOf(accepted, 'OrgnlEndToEndId')
    const pay = (body: object) =>
      fetch(`${bank.url}/simulator/pay-charge`, { method: 'POST', body: JSON.stringify(body) })
    expect((await pay({ end_to_end_id: 'E1' })).status).toBe(400)
    expect((await pay({ end_to_end_id: `E${ispb}202603021405${'0'.repeat(11)}` })).status).toBe(404)
    const asked = await pay({ end_to_end_id: id })
    expect([asked.status, await asked.json()]).toEqual([201, { end_to_end_ids: [id] }])
    expect((await pay({ end_to_end_id: id })).status).toBe(404)
    expect((await scheduled.receive())[0]?.xml).toContain(`<EndToEndId>${id}<`)
  })

  test('that was taken back is not paid', async () => {
    const { us, bank } = await open()
    await us.send(charge())
    const [accepted] = await us.receive()
    const endToEndId = (accepted && textOf(accepted, 'OrgnlEndToEndId')) ?? ''
    await us.send(cancellation(endToEndId))
    const [taken] = await us.receive()
    expect(taken && textOf(taken, 'PmtInfCxlSts')).toBe('ACCR')
    expect(bank.payCharge(endToEndId)).toBe(false)
  })

  test('is asked for once: not while it waits, nor when it is paid, nor after its payment was rejected', async () => {
    const { us, scheduled, bank } = await open()
    const id = `E${ispb}202603021405${'q'.repeat(11)}`
    const ask = async () => {
      await us.send(charge({ end_to_end_id: id }))
      const [answer] = await us.receive()
      if (answer === undefined) throw new Error('nothing came')
      return [textOf(answer, 'TxSts'), textOf(answer, 'Prtry')]
    }
    expect(await ask()).toEqual(['ACSP', undefined])
    expect(await ask()).toEqual(['RJCT', 'NIEC'])
    expect(bank.payCharge(id)).toBe(true)
    expect(await ask()).toEqual(['RJCT', 'NIEC'])
    const [paid] = await scheduled.receive()
    if (paid === undefined) throw new Error('nothing came')
    await scheduled.sendAll([answerTo(ispb, paid)])
    await scheduled.receive()
    expect(await ask()).toEqual(['RJCT', 'NIPA'])
    expect(bank.payCharge(id)).toBe(false)
    const rejected = `E${ispb}202603021406${'q'.repeat(11)}`
    await us.send(charge({ end_to_end_id: rejected }))
    await us.receive()
    bank.payCharge(rejected)
    const [refused] = await scheduled.receive()
    if (refused === undefined) throw new Error('nothing came')
    await scheduled.sendAll([answerTo(ispb, refused, 'RJCT')])
    await until(() => bank.statistics().operations.rejected === 1)
    await us.send(charge({ end_to_end_id: rejected }))
    expect((await us.receive()).map((answer) => textOf(answer, 'Prtry'))).toEqual(['GRER'])
    expect(bank.book().operations).toHaveLength(2)
  })

  test('is not paid once more where its payer has paid under its EndToEndId', async () => {
    const { us, bank } = await open()
    const id = `E${ispb}202603021405${'q'.repeat(11)}`
    await us.send(charge({ end_to_end_id: id }))
    await us.receive()
    const other = createParticipant(bank.url, payer)
    await other.send(
      build(payer, 'PACS008', {
        local_instrument: 'AUTO',
        transactions: [{ ...transfer(payer, ispb, 4_990, id), transaction_id: txid }],
      }),
    )
    await us.receive()
    expect(bank.payCharge(id)).toBe(false)
    nowMs += 2 * dayMs
    await until(() => bank.statistics().operations.rejected === 1)
    expect(bank.book().operations).toHaveLength(1)
  })

  test('is asked for, and taken back, by who is paid', async () => {
    const { us, bank } = await open()
    const other = createParticipant(bank.url, '87654321')
    await other.send(
      Buffer.from(
        Buffer.from(charge())
          .toString()
          .replaceAll(`<Id>${ispb}</Id>`, '<Id>87654321</Id>')
          .replaceAll(`>M${ispb}`, '>M87654321'),
      ),
    )
    const [foreign] = await other.receive()
    expect(foreign && [textOf(foreign, 'TxSts'), textOf(foreign, 'Prtry')]).toEqual([
      'RJCT',
      'GRER',
    ])
    await us.send(charge())
    const [accepted] = await us.receive()
    const endToEndId = (accepted && textOf(accepted, 'OrgnlEndToEndId')) ?? ''
    await other.send(cancellation(endToEndId, other.ispb))
    await us.send(cancellation(`E${ispb}202603021405${'n'.repeat(11)}`))
    const answers = [...(await other.receive()), ...(await us.receive())]
    expect(
      answers.map((answer) => [textOf(answer, 'PmtInfCxlSts'), textOf(answer, 'Prtry')]),
    ).toEqual([
      ['RJCR', 'CH16'],
      ['RJCR', 'CH16'],
    ])
    expect([foreign, ...answers].flatMap((answer) => (answer ? violations(answer) : []))).toEqual(
      [],
    )
    expect(bank.payCharge(endToEndId)).toBe(true)
  })

  test('is refused, not answered, not paid, or not taken back, as faults say', async () => {
    const { us, bank } = await open(
      { kind: 'charge_unanswered', times: 1 },
      { kind: 'charge_refused', times: 1, code: 'AC05' },
      { kind: 'cancellation_refused', times: 1 },
      { kind: 'charge_unpaid', times: 1 },
    )
    await us.send(charge())
    await us.send(charge())
    await us.send(charge())
    const [refused, accepted] = await us.receive(2)
    if (refused === undefined || accepted === undefined) throw new Error('nothing came')
    expect([textOf(refused, 'TxSts'), textOf(refused, 'Prtry')]).toEqual(['RJCT', 'AC05'])
    expect(bank.payCharge(textOf(refused, 'OrgnlEndToEndId') ?? '')).toBe(false)
    const endToEndId = textOf(accepted, 'OrgnlEndToEndId') ?? ''
    await us.send(cancellation(endToEndId))
    const [kept] = await us.receive()
    expect(kept && [textOf(kept, 'PmtInfCxlSts'), textOf(kept, 'Prtry')]).toEqual(['RJCR', 'FBRD'])
    expect([refused, accepted, ...(kept ? [kept] : [])].flatMap(violations)).toEqual([])
    nowMs += 3 * dayMs
    const faults = async () => (await fetch(`${bank.url}/simulator/faults`)).json()
    await until(async () => ((await faults()) as readonly unknown[]).length === 0)
    expect([bank.book().operations, bank.payCharge(endToEndId)]).toEqual([[], false])
  })
})

describe('a payer who reads the code of a recurrence', () => {
  const payload = {
    idRec: `RR${ispb}20260302aaaaaaaaaaa`,
    vinculo: { contrato: 'C & 1', devedor: { cpf: '45164632481', nome: 'Fulano' } },
    calendario: { dataInicial: '2026-04-01', dataFinal: '2027-04-01', periodicidade: 'ANUAL' },
    valor: { valorRec: '35.00' },
    politicaRetentativa: 'PERMITE_3R_7D',
    recebedor: { cnpj: '12345678000195', nome: 'Padaria', ispbParticipante: ispb },
  }
  const jws = (content: object) =>
    `e30.${Buffer.from(JSON.stringify(content)).toString('base64url')}.`
  const authorize = ({ url }: CentralBank, body: object) =>
    fetch(`${url}/simulator/authorize`, { method: 'POST', body: JSON.stringify(body) })

  test('is told of by a pain.012 that names his journey', async () => {
    const { us, bank } = await open()
    for (const [journey, content] of [
      [undefined, payload],
      [4, { ...payload, valor: undefined }],
    ] as const) {
      const told = await authorize(bank, { payload: jws(content), journey })
      expect([told.status, await told.json()]).toEqual([201, { mandate_id: payload.idRec }])
      const [answer] = await us.receive()
      if (answer === undefined) throw new Error('nothing came')
      expect([answer.type, textOf(answer, 'MndtSts'), textOf(answer, 'MndtPrcgTp')]).toEqual([
        ...['pain.012', 'PDNG', `AUT${journey ?? 2}`],
      ])
      expect([textOf(answer, 'Tp'), textOf(answer, 'Nb')]).toEqual(['YEAR', 'C &amp; 1'])
      expect(violations(answer)).toEqual([])
    }
  })

  test('reads nothing else', async () => {
    const { bank } = await open()
    for (const body of [
      { payload: 'no payload' },
      { payload: jws({ ...payload, idRec: 'R1' }) },
      { payload: jws(payload), journey: 1 },
      {},
    ]) {
      expect((await authorize(bank, body)).status).toBe(400)
    }
  })
})
