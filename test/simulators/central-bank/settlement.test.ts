import { afterEach, describe, expect, test } from 'bun:test'
import {
  acceptingPsp,
  type CentralBank,
  type CentralBankOptions,
  createCentralBank,
  payingPsp,
} from '../../../src/simulators/central-bank/index.ts'
import {
  answerTo,
  build,
  createParticipant,
  payment,
  type Received,
  transfer,
} from '../../support/participant.ts'

const bankA = '11111111'
const bankB = '22222222'
let bank: CentralBank | undefined

const open = async (options: CentralBankOptions = {}) => {
  bank = await createCentralBank({ longPollMs: 200, openingBalanceCents: 100_000n, ...options })
  const { url } = bank
  return { bank, a: createParticipant(url, bankA), b: createParticipant(url, bankB) }
}

afterEach(async () => {
  const { balanced } = bank?.book() ?? { balanced: true }
  await bank?.stop()
  bank = undefined
  expect(balanced).toBe(true)
})

const statuses = (received: Received) => {
  const { message } = received
  if (message?.type !== 'pacs.002') throw new Error(`a ${received.type} came`)
  return message.transactions.map(({ status, reasons }) =>
    `${status} ${reasons[0]?.code ?? ''}`.trim(),
  )
}

const available = (ispb: string) =>
  bank?.book().accounts.find((account) => account.ispb === ispb)?.available

test('a payment settles: the receiver is asked, both are told when', async () => {
  const { a, b, bank } = await open()
  await a.send(payment(bankA, bankB, 1_234))
  const [asked] = await b.receive()
  if (asked?.message?.type !== 'pacs.008') throw new Error('no pacs.008')
  const { header, groupHeader, transactions } = asked.message
  expect([header.fromIspb, header.toIspb]).toEqual(['00038166', bankB])
  expect(header.businessMessageId).toBe(groupHeader.messageId)
  expect(transactions[0]?.amount.cents).toBe(1_234n)
  expect(bank.book().accounts.find(({ ispb }) => ispb === bankA)).toMatchObject({
    available: 98_766n,
    held: 1_234n,
  })
  await b.send(answerTo(bankB, asked))
  const [told] = await a.receive()
  const [confirmed] = await b.receive()
  if (told === undefined || confirmed === undefined) throw new Error('no answer')
  expect([statuses(told), statuses(confirmed)]).toEqual([['ACSC'], ['ACCC']])
  for (const { message } of [told, confirmed]) {
    if (message?.type !== 'pacs.002') throw new Error('no pacs.002')
    expect(message.transactions[0]?.settlementDateTime).toMatch(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/)
  }
  expect([available(bankA), available(bankB)]).toEqual([98_766n, 101_234n])
})

test('the receiver’s rejection reaches the payer with its code, and the money comes back', async () => {
  const { a, b } = await open()
  await a.send(payment(bankA, bankB, 500))
  const [asked] = await b.receive()
  if (asked === undefined) throw new Error('nothing came')
  await b.send(answerTo(bankB, asked, 'RJCT'))
  const [told] = await a.receive()
  expect(told === undefined ? [] : statuses(told)).toEqual(['RJCT AC03'])
  expect([available(bankA), available(bankB)]).toEqual([100_000n, 100_000n])
})

test('without an answer in time both are told AB03, and a late answer changes nothing', async () => {
  const { a, b, bank } = await open({ settlementLimitMs: 300 })
  await a.send(payment(bankA, bankB, 500))
  const [asked, rejected] = await b.receive(2)
  const [told] = await a.receive()
  if (asked === undefined || rejected === undefined || told === undefined) throw new Error('short')
  expect([statuses(rejected), statuses(told)]).toEqual([['RJCT AB03'], ['RJCT AB03']])
  await b.send(answerTo(bankB, asked))
  await b.send(payment(bankB, acceptingPsp, 1))
  await b.receive()
  expect(bank.statistics().lateAnswers).toBe(1)
  expect(available(bankA)).toBe(100_000n)
})

test('the bank’s own rules reject at once: balance, zero, own account, count', async () => {
  const { a } = await open()
  const count = Buffer.from(payment(bankA, bankB, 10))
    .toString()
    .replace('<NbOfTxs>1<', '<NbOfTxs>2<')
  const agent = '<DbtrAgt><FinInstnId><ClrSysMmbId><MmbId>'
  const foreign = Buffer.from(payment(bankA, bankB, 10))
    .toString()
    .replace(`${agent}${bankA}`, `${agent}33333333`)
  await a.sendAll([
    payment(bankA, bankB, 100_001),
    Buffer.from(
      Buffer.from(payment(bankA, bankB, 10))
        .toString()
        .replace('>0.10<', '>0.00<'),
    ),
    payment(bankA, bankA, 10),
    Buffer.from(count),
    Buffer.from(foreign),
  ])
  const told = await a.receive(5)
  expect(told.flatMap(statuses)).toEqual([
    'RJCT AM04',
    'RJCT AM01',
    'RJCT AG12',
    'RJCT AM18',
    'RJCT AGNT',
  ])
  expect(available(bankA)).toBe(100_000n)
})

describe('what contradicts itself is rejected', () => {
  const key = 'chave@example.com'
  const txid = 't'.repeat(26)
  type Given = { readonly [name: string]: unknown; readonly local_instrument?: string }
  const instruct = ({ local_instrument = 'MANU', service_level, proxy, ...more }: Given) => {
    const plain = transfer(bankA, acceptingPsp, 1_000)
    const creditor = { ...plain.creditor, ...(proxy === undefined ? {} : { proxy }) }
    return Buffer.from(
      build(bankA, 'PACS008', {
        local_instrument,
        ...(service_level === undefined ? {} : { service_level }),
        transactions: [{ ...plain, creditor, ...more }],
      }),
    ).toString()
  }
  const cash = (purpose: string, more: object) => ({
    local_instrument: 'QRDN',
    transaction_id: txid,
    proxy: key,
    purpose,
    withdrawal: { agent_type: 'AGTEC', agent_ispb: bankB, ...more },
  })
  const dict = { local_instrument: 'DICT', proxy: key }
  const [qrdn, auto] = [
    { local_instrument: 'QRDN', transaction_id: txid, proxy: key },
    { local_instrument: 'AUTO', transaction_id: txid },
  ]
  const inic = {
    local_instrument: 'INIC',
    transaction_id: 'x',
    proxy: key,
    initiator_document: '33333333000191',
  }
  const changed: readonly (readonly [string, Given, string | RegExp, string, string])[] = [
    ['NORM with PAGPRI', {}, '>HIGH<', '>NORM<', 'CH16'],
    ['HIGH with PAGAGD', { service_level: 'PAGAGD' }, '>NORM<', '>HIGH<', 'CH16'],
    ['MANU with a TxId', {}, '</EndToEndId>', '</EndToEndId><TxId>x</TxId>', 'CH16'],
    ['MANU with a key', {}, /(<CdtrAcct>.*)(<.CdtrAcct>)/, '$1<Prxy><Id>k</Id></Prxy>$2', 'CH16'],
    ['DICT without a key', dict, /<Prxy>.*<.Prxy>/, '', 'CH16'],
    ['QRDN without a TxId', qrdn, /<TxId>.*<.TxId>/, '', 'CH16'],
    ['QRDN without a key', qrdn, /<Prxy>.*<.Prxy>/, '', 'CH16'],
    ['QRDN with a short TxId', qrdn, `>${txid}<`, '>x<', 'CH16'],
    ['QRES with a long TxId', { ...qrdn, local_instrument: 'QRDN' }, '>QRDN<', '>QRES<', 'CH16'],
    ['INIC without its initiator', inic, /<InitgPty>.*<.InitgPty>/, '', 'CH16'],
    ['AUTO that is no purchase', auto, '>IPAY<', '>REFU<', 'CH16'],
    ['REFU by key', dict, '>IPAY<', '>REFU<', 'CH16'],
    ['to a salary account', {}, /(<CdtrAcct>.*>)CACC</, '$1SLRY<', 'CH16'],
    [
      'cash of less than the amount',
      cash('OTHR', { cash_amount: 1_000 }),
      /(<Amt[^>]*>)10.00</,
      '$19.00<',
      'AM12',
    ],
    ['a purchase that is none', cash('OTHR', { cash_amount: 1_000 }), '>VLDN<', '>VLCP<', 'FF07'],
    [
      'cash back of two parts that do not add up',
      cash('GSCB', { cash_amount: 400, purchase_amount: 600 }),
      '>6.00<',
      '>5.00<',
      'AM12',
    ],
    ['an id of another institution', {}, `<EndToEndId>E${bankA}`, `<EndToEndId>E${bankB}`, 'FF08'],
    ['an id of another day', {}, /<EndToEndId>(E.{8}).{12}/, '<EndToEndId>$1202403021405', 'FF08'],
    ['an id of no day', auto, /<EndToEndId>(E.{8}).{12}/, '<EndToEndId>$1202402301405', 'FF08'],
  ]
  test.each(changed)('%s', async (_, given, from, to, code) => {
    const { a } = await open()
    const message = instruct(given)
    await a.sendAll([
      Buffer.from(message),
      Buffer.from(
        message
          .replace(from, to)
          .replace(/(<BizMsgIdr>M.{8}|<MsgId>M.{8})..../g, '$1zzzz')
          .replace(/.{11}(?=<.EndToEndId>)/, 'z'.repeat(11)),
      ),
    ])
    expect((await a.receive(2)).flatMap(statuses).sort()).toEqual(['ACSC', `RJCT ${code}`])
  })

  test('an id may be of the initiator, that of a charge of who is paid and of any day, and of anybody where old samples are to be taken', async () => {
    const { a, bank } = await open()
    await a.sendAll([
      Buffer.from(instruct(inic).replace(`<EndToEndId>E${bankA}`, '<EndToEndId>E33333333')),
      // An initiator may begin a payment by a key or a code too.
      Buffer.from(
        instruct({ ...dict, initiator_document: '33333333000191' }).replace(
          `<EndToEndId>E${bankA}`,
          '<EndToEndId>E33333333',
        ),
      ),
      Buffer.from(
        instruct(auto).replace(
          /<EndToEndId>E.{8}.{12}/,
          `<EndToEndId>E${acceptingPsp}202403021405`,
        ),
      ),
    ])
    expect((await a.receive(3)).flatMap(statuses)).toEqual(['ACSC', 'ACSC', 'ACSC'])
    const old = Buffer.from(
      Buffer.from(
        build(bankA, 'PACS004', {
          original_end_to_end_id: bank.book().operations[0]?.id,
          amount: 1,
          return_reason: 'MD06',
          receiving_ispb: bankB,
        }),
      )
        .toString()
        .replace(/<RtrId>D.{20}/, `<RtrId>D${bankB}202403021405`),
    )
    await a.send(old)
    expect((await a.receive()).flatMap(statuses)).toEqual(['RJCT FF08'])
    await bank.stop()
    const lenient = await open({ anyIds: true })
    await lenient.a.send(
      Buffer.from(instruct({}).replace(/<EndToEndId>E.{20}/, `<EndToEndId>E${bankB}202402301405`)),
    )
    expect((await lenient.a.receive()).flatMap(statuses)).toEqual(['ACSC'])
  })
})

test('a message of several payments: one request to each receiver, one report to the payer', async () => {
  const { a, b } = await open()
  await a.send(
    payment(bankA, bankB, 100, [transfer(bankA, bankB, 200), transfer(bankA, acceptingPsp, 300)]),
  )
  const [asked] = await b.receive()
  if (asked?.message?.type !== 'pacs.008') throw new Error('no pacs.008')
  expect(asked.message.groupHeader.numberOfTransactions).toBe('2')
  expect(asked.message.transactions.map(({ amount }) => amount.cents)).toEqual([100n, 200n])
  await b.send(answerTo(bankB, asked, 'ACSP', 0))
  await b.send(answerTo(bankB, asked, 'RJCT', 1))
  const told = await a.receive(3)
  expect(told.flatMap(statuses).sort()).toEqual(['ACSC', 'ACSC', 'RJCT AC03'])
  expect(available(bankA)).toBe(99_600n)
})

test('an answer that is not clear, or about what is not its sender’s, is refused whole and settles nothing', async () => {
  const { a, b, bank } = await open()
  await a.send(payment(bankA, bankB, 100, [transfer(bankA, bankB, 200)]))
  const [asked] = await b.receive()
  if (asked?.message?.type !== 'pacs.008') throw new Error('no pacs.008')
  const ids = asked.message.transactions.map(({ endToEndId }) => endToEndId)
  const answer = (given: readonly object[]) =>
    build(bankB, 'PACS002', {
      transactions: ids.map((id, at) => ({
        original_end_to_end_id: id,
        status: 'ACSP',
        ...given[at],
      })),
    })
  const edited = (bytes: Uint8Array, from: string | RegExp, to: string) =>
    Buffer.from(Buffer.from(bytes).toString().replace(from, to))
  const unknown = `E${bankA}202603021405${'z'.repeat(11)}`
  await b.sendAll([
    answer([{}, { original_end_to_end_id: unknown }]),
    edited(answer([]), '<TxSts>ACSP<', '<TxSts>ACSC<'),
    edited(answer([]), /<TxSts>ACSP<\/TxSts>(?=.*ACSP)/s, '<TxSts>ACCC</TxSts>'),
    edited(answer([{}, { status: 'RJCT', reason: 'AC03' }]), /<StsRsnInf>.*<\/StsRsnInf>/, ''),
  ])
  expect((await b.receive(4)).map(({ type }) => type)).toEqual(Array(4).fill('admi.002'))
  expect(bank.statistics().operations).toEqual({ waiting: 2, settled: 0, rejected: 0 })
  await b.send(answer([]))
  expect((await a.receive()).flatMap(statuses)).toEqual(['ACSC', 'ACSC'])
})

test('virtual participants: one accepts, one pays on demand, both by the control endpoint too', async () => {
  const { a, b, bank } = await open()
  await a.send(payment(bankA, acceptingPsp, 700))
  expect((await a.receive()).flatMap(statuses)).toEqual(['ACSC'])
  const endToEndId = bank.payIn({ to: bankB, amountCents: 900n })
  expect(endToEndId).toMatch(new RegExp(`^E${payingPsp}`))
  const response = await fetch(`${bank.url}/simulator/pay-in`, {
    method: 'POST',
    body: JSON.stringify({ to: bankB, amount_cents: 50, count: 2 }),
  })
  expect(response.status).toBe(201)
  const charge = { txid: '7978c0c97ea847e78e8849634473c1f1', tax_id: '12345678000195', key: 'k' }
  const paid = await fetch(`${bank.url}/simulator/pay-in`, {
    method: 'POST',
    body: JSON.stringify({ to: bankB, amount_cents: 70, charge }),
  })
  expect(paid.status).toBe(201)
  const asked = await b.receive(4)
  expect(asked.at(-1)?.message).toMatchObject({
    transactions: [{ transactionId: charge.txid, localInstrument: 'QRDN' }],
  })
  await b.sendAll(asked.map((each) => answerTo(bankB, each)))
  await b.receive(4)
  expect(available(bankB)).toBe(101_070n)
})

test('a virtual payer takes cash, all of what he pays or what is beside a purchase', async () => {
  const { b, bank } = await open()
  const charge = { txid: '7978c0c97ea847e78e8849634473c1f1', tax_id: '12345678000195', key: 'k' }
  const pay = (amount_cents: number, cash_cents: number) =>
    fetch(`${bank.url}/simulator/pay-in`, {
      method: 'POST',
      body: JSON.stringify({
        to: bankB,
        amount_cents,
        charge: {
          ...charge,
          cash: { amount_cents: cash_cents, agent: 'AGTEC', facilitator: '12345678' },
        },
      }),
    })
  const tooMuch = await pay(2_000, 2_001)
  expect([tooMuch.status, await tooMuch.json()]).toMatchObject([
    400,
    { problems: [{ path: 'charge/cash/amount_cents' }] },
  ])
  for (const [cents, cash] of [
    [2_000, 2_000],
    [10_000, 2_000],
  ] as const) {
    expect((await pay(cents, cash)).status).toBe(201)
  }
  const asked = await b.receive(2)
  expect(
    asked.flatMap(({ message }) => (message?.type === 'pacs.008' ? message.transactions : [])),
  ).toMatchObject([
    { amount: { cents: 2_000n }, purpose: 'OTHR' },
    { amount: { cents: 10_000n }, purpose: 'GSCB' },
  ])
})

test('returns give back up to the payment, from its receiver, once', async () => {
  const { a, b } = await open()
  await a.send(payment(bankA, bankB, 1_000))
  const [asked] = await b.receive()
  if (asked?.message?.type !== 'pacs.008') throw new Error('no pacs.008')
  await b.send(answerTo(bankB, asked))
  await Promise.all([a.receive(), b.receive()])
  const original = asked.message.transactions[0]?.endToEndId
  const giveBack = (cents: number, ispb = bankB, to = bankA) =>
    build(ispb, 'PACS004', {
      original_end_to_end_id: original,
      amount: cents,
      return_reason: 'MD06',
      receiving_ispb: to,
    })
  await b.send(giveBack(600))
  await b.send(giveBack(600))
  const [returned] = await a.receive()
  expect(returned?.message?.type).toBe('pacs.004')
  expect((await b.receive()).flatMap(statuses)).toEqual(['RJCT AM09'])
  if (returned === undefined) throw new Error('nothing came')
  await a.send(answerTo(bankA, returned))
  expect((await b.receive()).flatMap(statuses)).toEqual(['ACSC'])
  expect((await a.receive()).flatMap(statuses)).toEqual(['ACCC'])
  await a.send(giveBack(10, bankA, bankB))
  expect((await a.receive()).flatMap(statuses)).toEqual(['RJCT CH16'])
  expect([available(bankA), available(bankB)]).toEqual([99_600n, 100_400n])
})

test('a steady rate of payments, for load', async () => {
  let nowMs = Date.UTC(2026, 2, 2)
  const { b, bank } = await open({
    payIn: { to: bankB, perSecond: 50, amountCents: 3n },
    now: () => nowMs,
  })
  nowMs += 200
  const asked = await b.receive(10)
  expect(asked.map(({ type }) => type)).toEqual(Array(10).fill('pacs.008'))
  expect(bank.book().operations.map(({ amountCents }) => amountCents)).toEqual(Array(10).fill(3n))
})

test('the time of a priority payment runs from its acceptance where that is asked for, of others from receipt', async () => {
  let nowMs = Date.now()
  // The hour that passes below must not end the streams of the two before they read on.
  const { a, b, bank } = await open({
    fromAcceptance: true,
    now: () => nowMs,
    streamIdleMs: 2 * 3_600_000,
  })
  const accepted = (agoMs: number, serviceLevel: string, cents: number): Uint8Array => {
    const message = build(bankA, 'PACS008', {
      local_instrument: 'MANU',
      service_level: serviceLevel,
      transactions: [transfer(bankA, bankB, cents)],
    })
    const time = new Date(nowMs - agoMs).toISOString()
    return Buffer.from(
      Buffer.from(message)
        .toString()
        .replace(/<AccptncDtTm>.*?</, `<AccptncDtTm>${time}<`),
    )
  }
  await a.send(accepted(40_000, 'PAGPRI', 1))
  expect((await a.receive()).flatMap(statuses)).toEqual(['RJCT AB03'])
  await a.sendAll([
    accepted(39_000, 'PAGPRI', 2),
    accepted(3_600_000, 'PAGFRD', 3),
    accepted(3_600_000, 'PAGAGD', 4),
  ])
  expect((await b.receive(3)).map(({ type }) => type)).toEqual(Array(3).fill('pacs.008'))
  const rejected = async () => {
    const told = await a.receive()
    expect(told.flatMap(statuses)).toEqual(['RJCT AB03'])
    const { operations } = bank.book()
    return operations.flatMap(({ amountCents, state }) => (state === 'waiting' ? amountCents : []))
  }
  nowMs += 1_100
  expect(await rejected()).toEqual([3n, 4n])
  nowMs += 39_000
  expect(await rejected()).toEqual([4n])
  nowMs += 45 * 60_000
  expect(await rejected()).toEqual([])
})

test('a clock that is set back neither stops time nor shortens it', async () => {
  let nowMs = Date.now()
  const { a, b, bank } = await open({
    now: () => nowMs,
    payIn: { to: bankB, perSecond: 10, amountCents: 3n },
  })
  await a.send(payment(bankA, bankB, 1))
  await b.receive()
  nowMs -= 3_600_000
  // Several ticks: the bank sees that its clock was set back.
  await Bun.sleep(200)
  await a.send(payment(bankA, bankB, 2))
  await b.receive()
  nowMs += 39_000
  await b.receive(390)
  expect(bank.statistics().operations).toMatchObject({ rejected: 0 })
  nowMs += 1_100
  expect((await a.receive()).flatMap(statuses)).toEqual(['RJCT AB03', 'RJCT AB03'])
})

test('scheduled payments have a limit of their own', async () => {
  const { a, b } = await open({ settlementLimitMs: 300, scheduledLimitMs: 60_000 })
  const scheduled = build(bankA, 'PACS008', {
    local_instrument: 'MANU',
    service_level: 'PAGAGD',
    transactions: [transfer(bankA, bankB, 5)],
  })
  await a.sendAll([scheduled, payment(bankA, bankB, 6)])
  const received = await b.receive(3)
  expect(received.map(({ type }) => type)).toEqual(['pacs.008', 'pacs.008', 'pacs.002'])
  const [asked] = received
  if (asked === undefined) throw new Error('nothing came')
  await b.send(answerTo(bankB, asked))
  expect((await a.receive(2)).flatMap(statuses)).toEqual(['RJCT AB03', 'ACSC'])
})
