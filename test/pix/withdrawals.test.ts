/** Pix Saque and Pix Troco: charges that hand out cash, what pays them, and what of it is given back. */
import { describe, expect, test } from 'bun:test'
import { messagesOfPayment } from '../../src/spi/payments/store.ts'
import {
  fresh,
  type PaymentParts,
  payment,
  report,
  runningWorker,
  tellingOf,
} from '../spi/in/worker/support.ts'
import { chargeBody, freshTxid, type Json, startPix } from './support.ts'

const pix = await startPix()
const worker = await runningWorker(pix.database, { autoAccept: true, receivables: pix.receivables })
const { key, token } = await pix.receiver('ana')

const call = (method: string, path: string, body?: object) =>
  pix.call(method, `/pix/v2${path}`, { token, ...(body && { body }) })

const agency = { modalidadeAgente: 'AGTEC', prestadorDoServicoDeSaque: '12345678' }
const saque = { original: '0.00', retirada: { saque: { valor: '20.00', ...agency } } }
const troco = { original: '80.00', retirada: { troco: { valor: '20.00', ...agency } } }
const open = (valor: Json): Json => {
  const [[kind, cash]] = Object.entries<Json>(valor.retirada) as [[string, Json]]
  return { ...valor, retirada: { [kind]: { ...cash, valor: '0.00', modalidadeAlteracao: 1 } } }
}
const by = (valor: Json, modalidadeAgente: string): Json => ({
  ...valor,
  retirada: { saque: { ...valor.retirada.saque, modalidadeAgente } },
})

const made = async (valor: object): Promise<string> => {
  const txid = freshTxid()
  const { status, text } = await call('PUT', `/cob/${txid}`, chargeBody(key, { valor }))
  if (status !== 201) throw new Error(text)
  return txid
}

const tell = tellingOf(pix.database, worker)

type Cash = { readonly agent?: string; readonly facilitator?: string } & Readonly<
  Partial<Record<'VLCP' | 'VLDN', string>>
>

const remittance = ({ agent = 'AGTEC', facilitator = '12345678', ...amounts }: Cash): string => {
  const parts = Object.entries(amounts).map(
    ([reason, amount]) =>
      `<AdjstmntAmtAndRsn><Amt Ccy="BRL">${amount}</Amt><Rsn>${reason}</Rsn></AdjstmntAmtAndRsn>`,
  )
  return `<RmtInf><Strd><RfrdDocInf><Tp><CdOrPrtry><Prtry>${agent}</Prtry></CdOrPrtry><Issr>${facilitator}</Issr></Tp></RfrdDocInf><RfrdDocAmt>${parts.join('')}</RfrdDocAmt></Strd></RmtInf>`
}

type Paid = PaymentParts & { readonly cash?: Cash }

/** @returns its EndToEndId, and what we answered to the SPI */
const pay = async (txid: string | undefined, { cash, ...parts }: Paid) => {
  const endToEndId = fresh.endToEndId()
  const xml = payment({
    endToEndId,
    proxy: `<Prxy><Id>${key}</Id></Prxy>`,
    ...(txid === undefined ? {} : { instrument: 'QRDN' }),
    ...(txid === undefined ? {} : { transactionId: `<TxId>${txid}</TxId>` }),
    ...(cash === undefined ? {} : { remittance: remittance(cash) }),
    ...parts,
  }).replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2')
  await tell(xml)
  const answer = (await messagesOfPayment(pix.sql, endToEndId)).find(
    ({ type, direction }) => type === 'pacs.002' && direction === 'OUTBOUND',
  )
  return { endToEndId, answer: [answer?.status, answer?.reason].filter(Boolean).join(' ') }
}

const settle = (endToEndId: string) => tell(report([{ endToEndId, status: 'ACCC' }]))

const paidSaque = { amount: '20.00', purpose: 'OTHR', cash: { VLDN: '20.00' } }
const paidTroco = { amount: '100.00', purpose: 'GSCB', cash: { VLCP: '80.00', VLDN: '20.00' } }

describe('a charge with cash', () => {
  test.each([
    ['saque', saque],
    ['troco', troco],
    ['saque of any amount', open(saque)],
    ['troco of any amount', open(troco)],
    ['saque at a facilitator', by(saque, 'AGPSS')],
  ])('%s shows it, to its receiver and to whoever reads the payload', async (_, valor) => {
    const [[kind, cash]] = Object.entries<Json>(valor.retirada) as [[string, Json]]
    const whole = {
      original: valor.original,
      modalidadeAlteracao: 0,
      retirada: { [kind]: { modalidadeAlteracao: 0, ...cash } },
    }
    const txid = await made(valor)
    const { json } = await call('GET', `/cob/${txid}`)
    expect(json.valor).toEqual(whole)
    expect(json.pixCopiaECola).toContain(json.location)
    const { text } = await pix.call('GET', json.location.slice(json.location.indexOf('/')))
    const payload = JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString())
    expect(payload.valor).toEqual(whole)
  })

  test('is revised, and what says the same changes nothing', async () => {
    const txid = await made(troco)
    const revise = async (valor: object) =>
      (await call('PATCH', `/cob/${txid}`, { valor })).json as Json
    expect(await revise({ retirada: troco.retirada })).toMatchObject({ revisao: 0 })
    expect(await revise({ original: '90.00' })).toMatchObject({
      revisao: 1,
      valor: { original: '90.00', retirada: { troco: { valor: '20.00' } } },
    })
    expect(await revise({ retirada: open(troco).retirada })).toMatchObject({ revisao: 2 })
    expect(await revise(saque)).toMatchObject({ revisao: 3, valor: { original: '0.00' } })
    const { json } = await call('GET', `/cob/${txid}?revisao=1`)
    expect(json.valor).toEqual({
      original: '90.00',
      modalidadeAlteracao: 0,
      retirada: { troco: { ...troco.retirada.troco, modalidadeAlteracao: 0 } },
    })
  })

  test.each<[string, Json, string]>([
    ['both', { ...troco, retirada: { ...saque.retirada, ...troco.retirada } }, 'retirada'],
    ['neither', { ...troco, retirada: {} }, 'retirada'],
    ['no object', { ...troco, retirada: 'saque' }, 'retirada'],
    ['no agent', { original: '0.00', retirada: { saque: { valor: '1.00' } } }, 'retirada'],
    [
      'an agent of saque alone',
      { ...troco, retirada: { troco: { ...troco.retirada.troco, modalidadeAgente: 'AGPSS' } } },
      'retirada',
    ],
    ['the agent of messages', by(saque, 'AGFSS'), 'retirada'],
    [
      'a malformed facilitator',
      {
        ...saque,
        retirada: { saque: { ...saque.retirada.saque, prestadorDoServicoDeSaque: '1234567' } },
      },
      'retirada',
    ],
    [
      'a malformed amount',
      { ...saque, retirada: { saque: { ...saque.retirada.saque, valor: '20' } } },
      'retirada',
    ],
    ['saque beside a purchase', { ...saque, original: '0.01' }, 'original'],
    ['troco without a purchase', { ...troco, original: '0.00' }, 'original'],
    ['saque of an open charge', { ...saque, modalidadeAlteracao: 1 }, 'modalidadeAlteracao'],
    ['troco of an open charge', { ...troco, modalidadeAlteracao: 1 }, 'modalidadeAlteracao'],
    [
      'no cash',
      { ...saque, retirada: { saque: { ...saque.retirada.saque, valor: '0.00' } } },
      'retirada.saque.valor',
    ],
  ])('is refused with %s', async (_, valor, member) => {
    const { status, json } = await call('PUT', `/cob/${freshTxid()}`, chargeBody(key, { valor }))
    expect([status, json.violacoes.map((one: Json) => one.propriedade)]).toEqual([
      400,
      [`cob.valor.${member}`],
    ])
    expect(json.type).toEndWith('/CobOperacaoInvalida')
  })
})

describe('a payment of a charge with cash', () => {
  test.each<[string, object, Paid, object]>([
    [
      'saque',
      saque,
      paidSaque,
      { original: { valor: '0.00' }, saque: { valor: '20.00', ...agency } },
    ],
    [
      'troco',
      troco,
      paidTroco,
      { original: { valor: '80.00' }, troco: { valor: '20.00', ...agency } },
    ],
    [
      ...([
        'saque of any amount',
        open(saque),
        { ...paidSaque, amount: '7.00', cash: { VLDN: '7.00' } },
      ] as const),
      { original: { valor: '0.00' }, saque: { valor: '7.00', ...agency } },
    ],
    [
      ...([
        'saque at a facilitator',
        by(saque, 'AGPSS'),
        { ...paidSaque, cash: { VLDN: '20.00', agent: 'AGFSS' } },
      ] as const),
      {
        original: { valor: '0.00' },
        saque: { valor: '20.00', ...agency, modalidadeAgente: 'AGPSS' },
      },
    ],
  ])('%s is accepted, and told in its parts', async (_, valor, parts, componentesValor) => {
    const txid = await made(valor)
    const { endToEndId, answer } = await pay(txid, parts)
    expect(answer).toBe('ACSP')
    await settle(endToEndId)
    expect((await call('GET', `/cob/${txid}`)).json).toMatchObject({
      status: 'CONCLUIDA',
      pix: [{ endToEndId, valor: parts.amount, componentesValor }],
    })
    const days = 'inicio=2020-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z'
    const listed = (await call('GET', `/pix?${days}&txid=${txid}`)).json
    expect(listed.pix).toMatchObject([{ componentesValor }])
  })

  test.each<[string, object, Paid]>([
    ['no cash', troco, { amount: '100.00' }],
    ['the purchase alone', troco, { amount: '80.00' }],
    ['another purpose', troco, { ...paidTroco, purpose: 'IPAY' }],
    ['the purpose of saque', troco, { ...paidTroco, purpose: 'OTHR' }],
    [
      'more cash',
      troco,
      { ...paidTroco, amount: '101.00', cash: { VLCP: '80.00', VLDN: '21.00' } },
    ],
    [
      'less of a purchase',
      open(troco),
      { ...paidTroco, amount: '99.00', cash: { VLCP: '79.00', VLDN: '20.00' } },
    ],
    ['parts that are not the whole', troco, { ...paidTroco, amount: '99.00' }],
    ['another agent', saque, { ...paidSaque, cash: { VLDN: '20.00', agent: 'AGTOT' } }],
    [
      'another facilitator',
      saque,
      { ...paidSaque, cash: { VLDN: '20.00', facilitator: '87654321' } },
    ],
    ['cash of a charge that has none', { original: '20.00' }, paidSaque],
    ['cash of an open charge', { original: '20.00', modalidadeAlteracao: 1 }, paidSaque],
  ])('%s is refused', async (_, valor, parts) => {
    const txid = await made(valor)
    expect((await pay(txid, parts)).answer).toBe('RJCT BE17')
    expect((await call('GET', `/cob/${txid}`)).json.status).toBe('ATIVA')
  })

  test('without a charge is told in its parts too', async () => {
    const { endToEndId } = await pay(undefined, paidTroco)
    await settle(endToEndId)
    expect((await call('GET', `/pix/${endToEndId}`)).json.componentesValor).toEqual({
      original: { valor: '80.00' },
      troco: { valor: '20.00', ...agency },
    })
  })
})

describe('what is given back', () => {
  const give = async (endToEndId: string, valor: string, natureza: string) => {
    const id = freshTxid()
    const { status } = await call('PUT', `/pix/${endToEndId}/devolucao/${id}`, { valor, natureza })
    return status
  }

  test('of a troco is the purchase, or the cash, each up to its own amount', async () => {
    const { endToEndId } = await pay(await made(troco), paidTroco)
    await settle(endToEndId)
    expect(await give(endToEndId, '80.01', 'ORIGINAL')).toBe(400)
    expect(await give(endToEndId, '20.01', 'RETIRADA')).toBe(400)
    expect(await give(endToEndId, '80.00', 'ORIGINAL')).toBe(201)
    expect(await give(endToEndId, '0.01', 'ORIGINAL')).toBe(400)
    expect(await give(endToEndId, '20.00', 'RETIRADA')).toBe(201)
    expect(await give(endToEndId, '0.01', 'RETIRADA')).toBe(400)
    const reasons = await pix.sql<{ reason: string }[]>`
      select t.reason from spi_messages m join spi_transactions t on t.message_id = m.id
      where m.type = 'pacs.004' and t.end_to_end_id = ${endToEndId} order by m.id`
    expect(reasons.map(({ reason }) => reason)).toEqual(['MD06', 'SL02'])
  })

  test('of a saque is cash alone', async () => {
    const { endToEndId } = await pay(await made(saque), paidSaque)
    await settle(endToEndId)
    expect(await give(endToEndId, '5.00', 'ORIGINAL')).toBe(400)
    expect(await give(endToEndId, '20.01', 'RETIRADA')).toBe(400)
    expect(await give(endToEndId, '20.00', 'RETIRADA')).toBe(201)
  })
})
