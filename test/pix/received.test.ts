/** Payments as the SPI tells of them, through the worker, and what the API Pix makes of them. */
import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import {
  ApiError,
  httpErrors,
  invalid as invalidValue,
  refusedValue,
} from '#src/platform/http/index.ts'
import { problemOf } from '../../src/pix/errors.ts'
import { createPixService } from '../../src/pix/received/service.ts'
import { paymentErrors } from '../../src/spi/payments/errors.ts'
import { messagesOfPayment } from '../../src/spi/payments/store.ts'
import {
  fresh,
  inbound,
  ispb,
  type PaymentParts,
  payment,
  report,
  runningWorker,
  storedWhen,
  workerOn,
} from '../spi/in/worker/support.ts'
import { until } from '../support/until.ts'
import { chargeBody, freshTxid, type Json, startPix } from './support.ts'

let clock: Date | undefined
const pix = await startPix(() => clock ?? new Date())
const worker = await runningWorker(pix.database, { autoAccept: true, receivables: pix.receivables })
const { key, token } = await pix.receiver('ana')
const taxId = '12345678000195'
const foreign = await pix.receiver('bia', '11222333000181')

const call = (method: string, path: string, body?: object, by = token) =>
  pix.call(method, `/pix/v2${path}`, { token: by, ...(body && { body }) })
const get = async (path: string, by = token) => (await call('GET', path, undefined, by)).json

const made = async (more: object = {}): Promise<string> => {
  const txid = freshTxid()
  const { status, text } = await call('PUT', `/cob/${txid}`, chargeBody(key, more))
  if (status !== 201) throw new Error(text)
  return txid
}

const tell = async (...documents: readonly string[]): Promise<void> => {
  for (const xml of documents) {
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(xml, { resourceId })])
    await storedWhen(pix.database, 'resource_id', resourceId)
  }
}

type Paid = PaymentParts & { readonly txid?: string; readonly document?: string }

/** A payment of a dynamic QR code, unless it says otherwise. */
const paid = ({ txid, document = taxId, ...parts }: Paid = {}): string =>
  payment({
    instrument: 'QRDN',
    amount: '37.00',
    proxy: `<Prxy><Id>${key}</Id></Prxy>`,
    ...(txid === undefined ? {} : { transactionId: `<TxId>${txid}</TxId>` }),
    ...parts,
  }).replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, `$1${document}$2`)

const pay = async (parts: Paid = {}): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  await tell(paid({ ...parts, endToEndId }))
  return endToEndId
}

const settle = (endToEndId: string, status = 'ACCC', reason?: string) =>
  tell(report([{ endToEndId, status, ...(reason === undefined ? {} : { reason }) }]))

/** What we answered to the SPI: one pacs.002. */
const answerTo = async (endToEndId: string) => {
  const all = await messagesOfPayment(pix.sql, endToEndId)
  return all
    .filter(({ type, direction }) => type === 'pacs.002' && direction === 'OUTBOUND')
    .map(({ status, reason }) => (reason === null ? status : `${status} ${reason}`))
}

describe('a payment of a charge', () => {
  test('concludes it when it is settled, and not before', async () => {
    const txid = await made()
    const endToEndId = await pay({ txid })
    expect(await answerTo(endToEndId)).toEqual(['ACSP'])
    expect(await get(`/cob/${txid}`)).toMatchObject({ status: 'ATIVA', revisao: 0 })
    expect((await get(`/cob/${txid}`)).pix).toBeUndefined()
    expect((await call('GET', `/pix/${endToEndId}`)).status).toBe(404)
    await settle(endToEndId)
    const charge = await get(`/cob/${txid}`)
    expect(charge).toMatchObject({ status: 'CONCLUIDA', revisao: 0 })
    const shown = await get(`/pix/${endToEndId}`)
    expect(charge.pix).toEqual([shown])
    expect(shown).toEqual({
      endToEndId,
      txid,
      valor: '37.00',
      chave: key,
      horario: expect.any(String),
      componentesValor: { original: { valor: '37.00' } },
    })
    // Nothing of the payer.
    expect(JSON.stringify(charge.pix)).not.toContain('12345678909')
    expect((await call('PATCH', `/cob/${txid}`, { valor: { original: '1.00' } })).status).toBe(400)
  })

  test('keeps a text of the payer as long as one may be, whatever its characters', async () => {
    const info = `${'a'.repeat(139)}😀`
    const endToEndId = await pay({
      txid: await made(),
      remittance: `<RmtInf><Ustrd>${info}</Ustrd></RmtInf>`,
    })
    await settle(endToEndId)
    expect(await get(`/pix/${endToEndId}`)).toMatchObject({ infoPagador: info })
  })

  test('that comes twice is one, with the answer that it got', async () => {
    const txid = await made()
    const endToEndId = fresh.endToEndId()
    const document = paid({ txid, endToEndId })
    const resourceId = fresh.resourceId()
    await worker.broker.publish([inbound(document, { resourceId })])
    await storedWhen(pix.database, 'resource_id', resourceId)
    // The very same message, and the same payment in another message.
    await worker.broker.publish([inbound(document, { resourceId })])
    await tell(paid({ txid, endToEndId }))
    await settle(endToEndId)
    await settle(endToEndId)
    expect(new Set(await answerTo(endToEndId))).toEqual(new Set(['ACSP']))
    expect((await get(`/cob/${txid}`)).pix).toHaveLength(1)
    const wrong = await pay({ txid, amount: '1.00' })
    expect(await answerTo(wrong)).toEqual(['RJCT DUPL'])
    await tell(paid({ txid, amount: '1.00', endToEndId: wrong }))
    expect(new Set(await answerTo(wrong))).toEqual(new Set(['RJCT DUPL']))
  })

  test('that the SPI refuses leaves it free for another', async () => {
    const txid = await made()
    const first = await pay({ txid })
    const second = await pay({ txid })
    expect(await answerTo(second)).toEqual(['RJCT DUPL'])
    await settle(first, 'RJCT', 'AB03')
    const third = await pay({ txid })
    expect(await answerTo(third)).toEqual(['ACSP'])
    await settle(third)
    expect((await get(`/cob/${txid}`)).pix.map(({ endToEndId }: Json) => endToEndId)).toEqual([
      third,
    ])
  })

  test('one of many that come together is accepted', async () => {
    const txid = await made()
    const ids = Array.from({ length: 6 }, () => fresh.endToEndId())
    await tell(
      payment(
        ids.slice(0, 3).map((endToEndId) => ({
          endToEndId,
          instrument: 'QRDN',
          amount: '37.00',
          transactionId: `<TxId>${txid}</TxId>`,
        })),
      ).replaceAll(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/g, `$1${taxId}$2`),
    )
    await worker.broker.publish(
      ids.slice(3).map((endToEndId) => inbound(paid({ txid, endToEndId }))),
    )
    await until(async () => (await Promise.all(ids.map(answerTo))).every((all) => all.length === 1))
    const answers = (await Promise.all(ids.map(answerTo))).flat()
    expect(answers.sort()).toEqual(['ACSP', ...Array(5).fill('RJCT DUPL')])
  })
})

describe('a charge that is being paid', () => {
  const removed = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }
  const dear = { valor: { original: '5000.00' } }
  const underWay = {
    status: 400,
    json: {
      type: 'https://pix.bcb.gov.br/api/v2/error/CobOperacaoInvalida',
      violacoes: [{ propriedade: 'cob.status', valor: 'ATIVA' }],
    },
  }

  test('is neither changed nor removed, until the payment has its end', async () => {
    const txid = await made()
    const endToEndId = await pay({ txid })
    const before = await get(`/cob/${txid}`)
    const changes = [
      ['PATCH', dear],
      ['PATCH', removed],
      ['PUT', chargeBody(key, dear)],
    ] as const
    for (const [method, body] of changes) {
      expect(await call(method, `/cob/${txid}`, body)).toMatchObject(underWay)
    }
    // What says the same changes nothing.
    expect((await call('PUT', `/cob/${txid}`, chargeBody(key))).status).toBe(201)
    expect(await get(`/cob/${txid}`)).toEqual(before)
    await settle(endToEndId, 'RJCT', 'AB03')
    expect((await call('PATCH', `/cob/${txid}`, dear)).status).toBe(200)
    // What was refused is no payment of it.
    await pay({ txid })
    expect((await call('PATCH', `/cob/${txid}`, removed)).status).toBe(200)
  })

  test('is either paid or changed where both come together', async () => {
    for (let round = 0; round < 12; round++) {
      const txid = await made()
      const endToEndId = fresh.endToEndId()
      await worker.broker.publish([inbound(paid({ txid, endToEndId }))])
      if (round % 3 > 0) await Bun.sleep(round * 3)
      const change = round % 2 === 0 ? dear : removed
      const { status } = await call('PATCH', `/cob/${txid}`, change)
      await until(async () => (await answerTo(endToEndId)).length > 0)
      expect([200, 400]).toContain(status)
      expect(await answerTo(endToEndId)).toEqual([status === 200 ? 'RJCT BE17' : 'ACSP'])
    }
  })
})

describe('what a charge refuses', () => {
  const refused = async (parts: Paid, answer: string) => {
    const endToEndId = await pay(parts)
    expect(await answerTo(endToEndId)).toEqual([answer])
    expect((await call('GET', `/pix/${endToEndId}`)).status).toBe(404)
    return endToEndId
  }

  test('another amount', async () => {
    const txid = await made()
    for (const amount of ['36.99', '37.01']) await refused({ txid, amount }, 'RJCT BE17')
    expect((await get(`/cob/${txid}`)).status).toBe('ATIVA')
    const open = await made({ valor: { original: '37.00', modalidadeAlteracao: 1 } })
    expect(await answerTo(await pay({ txid: open, amount: '0.01' }))).toEqual(['ACSP'])
  })

  test('after it has expired, which is a moment and no state', async () => {
    clock = new Date(Date.now() - 3_600_000 - 60_000)
    const late = await made()
    clock = new Date(Date.now() - 3_600_000 + 60_000)
    const soon = await made()
    clock = undefined
    await refused({ txid: late }, 'RJCT BE17')
    expect((await get(`/cob/${late}`)).status).toBe('ATIVA')
    expect(await answerTo(await pay({ txid: soon }))).toEqual(['ACSP'])
  })

  test('after it was removed; what got through all the same is kept and shown', async () => {
    const txid = await made()
    const status = 'REMOVIDA_PELO_USUARIO_RECEBEDOR'
    await call('PATCH', `/cob/${txid}`, { status })
    const endToEndId = await refused({ txid }, 'RJCT BE17')
    await settle(endToEndId)
    expect(await get(`/cob/${txid}`)).toMatchObject({ status, pix: [{ endToEndId }] })
  })

  test('after it was paid; what got through all the same stands beside the first', async () => {
    const txid = await made()
    const first = await pay({ txid })
    await settle(first)
    const second = await refused({ txid }, 'RJCT DUPL')
    await settle(second)
    const { pix: all, status } = await get(`/cob/${txid}`)
    expect([status, all.map(({ endToEndId }: Json) => endToEndId)]).toEqual([
      'CONCLUIDA',
      [first, second],
    ])
  })

  test('a txid that is none, or that names nothing', async () => {
    await refused({}, 'RJCT BE15')
    await refused({ txid: 'short' }, 'RJCT BE15')
    await refused({ txid: freshTxid() }, 'RJCT BE17')
    // Another receiver's charge is nothing to this one.
    const txid = freshTxid()
    await call('PUT', `/cob/${txid}`, chargeBody(foreign.key), foreign.token)
    await refused({ txid }, 'RJCT BE17')
  })

  test('what fits no index, and harms no other payment', async () => {
    // The database would shrink a repetitive text.
    const long = randomBytes(20_000).toString('hex')
    await settle(await refused({ txid: long }, 'RJCT BE15'))
    const endToEndId = fresh.endToEndId()
    const resourceId = fresh.resourceId()
    const hostile = paid({ endToEndId, txid: await made() }).replace(
      /(<Dbtr>.*?<Id>)12345678909(<\/Id>)/,
      `$1${long}$2`,
    )
    await worker.broker.publish([inbound(hostile, { resourceId })])
    const stored = await storedWhen(pix.database, 'resource_id', resourceId)
    expect(stored.status).toBe('PROCESSED')
    expect(await answerTo(await pay({ txid: await made() }))).toEqual(['ACSP'])
  })

  test('a static code with the txid of a charge', async () => {
    const txid = await made()
    await refused({ txid, instrument: 'QRES', amount: '0.01' }, 'RJCT BE17')
  })
})

test('receivers whom nobody charges for are not judged', async () => {
  const endToEndId = await pay({ document: '98765432100', txid: freshTxid() })
  expect(await answerTo(endToEndId)).toEqual(['ACSP'])
  const [row] = await pix.sql`select from pix_received where end_to_end_id = ${endToEndId}`
  expect(row).toBeUndefined()
})

test('a worker that accepts nothing of itself still refuses', async () => {
  const own = await startPix()
  const quiet = await workerOn(own.database, { receivables: own.receivables })
  await quiet.feature.start?.()
  await own.receiver('ana')
  const ids = [fresh.endToEndId(), fresh.endToEndId()] as const
  const documents = [
    paid({ endToEndId: ids[0], txid: freshTxid() }),
    paid({ endToEndId: ids[1], instrument: 'DICT' }),
  ]
  for (const document of documents) {
    const resourceId = fresh.resourceId()
    await quiet.broker.publish([inbound(document, { resourceId })])
    await storedWhen(own.database, 'resource_id', resourceId)
  }
  const rows = await own.sql<{ id: string }[]>`
    select t.end_to_end_id as id from spi_transactions t join spi_messages m on m.id = t.message_id
    where m.direction = 'OUTBOUND'`
  expect(rows.map(({ id }) => id)).toEqual([ids[0]])
  await quiet.stop()
  await own.database.close()
})

describe('the list of Pix', () => {
  const range = 'inicio=2020-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z'
  const lister = pix.receiver('lister', '98765432000198')
  const paidTo = async (parts: Paid) => {
    const { key: own } = await lister
    const endToEndId = await pay({
      document: '98765432000198',
      instrument: 'DICT',
      proxy: `<Prxy><Id>${own}</Id></Prxy>`,
      ...parts,
    })
    await settle(endToEndId)
    return endToEndId
  }
  const prepared = (async () => {
    const { key: own, token: by } = await lister
    const txid = freshTxid()
    await call('PUT', `/cob/${txid}`, chargeBody(own), by)
    const charged = await paidTo({ txid, instrument: 'QRDN' })
    const labelled = await paidTo({ txid: 'static1', instrument: 'QRES' })
    const bare = await paidTo({})
    await call('PUT', `/pix/${bare}/devolucao/d1`, { valor: '1.00' }, by)
    return { charged, labelled, bare, txid }
  })()

  test('has what was settled, by every filter', async () => {
    const { charged, labelled, bare, txid } = await prepared
    const { token: by } = await lister
    const ids = async (more = '') => {
      const { pix: all } = await get(`/pix?${range}${more}`, by)
      return all.map(({ endToEndId }: Json) => endToEndId)
    }
    expect(await ids()).toEqual([charged, labelled, bare])
    expect(await ids('&txIdPresente=true')).toEqual([charged, labelled])
    expect(await ids('&txIdPresente=false')).toEqual([bare])
    expect(await ids(`&txid=${txid}`)).toEqual([charged])
    expect(await ids('&txid=static1')).toEqual([labelled])
    expect(await ids('&devolucaoPresente=true')).toEqual([bare])
    expect(await ids('&devolucaoPresente=false')).toEqual([charged, labelled])
    expect(await ids('&cpf=12345678909')).toEqual([charged, labelled, bare])
    expect(await ids('&cnpj=12345678000195')).toEqual([])
    expect(await ids('&cpf=12345678909&txIdPresente=true')).toEqual([charged, labelled])
    expect(await ids(`&cpf=12345678909&txid=${txid}&devolucaoPresente=false`)).toEqual([charged])
    expect(await ids('&cpf=12345678909&devolucaoPresente=true&txIdPresente=true')).toEqual([])
    const second = '&paginacao.itensPorPagina=1&paginacao.paginaAtual=1'
    expect(await ids(`&cpf=12345678909&devolucaoPresente=false${second}`)).toEqual([labelled])
    expect(await ids('&paginacao.itensPorPagina=1&paginacao.paginaAtual=1')).toEqual([labelled])
    expect((await get(`/pix?${range}`, foreign.token)).parametros.paginacao).toMatchObject({
      quantidadeTotalDeItens: 0,
    })
    const wrong = await call('GET', `/pix?${range}&txid=-`)
    expect([wrong.status, wrong.json.type]).toEqual([
      ...[400, 'https://pix.bcb.gov.br/api/v2/error/PixConsultaInvalida'],
    ])
  })
})

describe('a return', () => {
  const settled = async () => {
    const txid = await made()
    const endToEndId = await pay({ txid })
    await settle(endToEndId)
    return endToEndId
  }
  const giveBack = (endToEndId: string, id: string, body: object, by = token) =>
    call('PUT', `/pix/${endToEndId}/devolucao/${id}`, body, by)

  test('is a pacs.004, and ends with the answer of the SPI', async () => {
    const endToEndId = await settled()
    const body = { valor: '7.00', descricao: 'Troca' }
    const asked = await giveBack(endToEndId, 'd1', body)
    expect(asked.status).toBe(201)
    expect(asked.json).toEqual({
      id: 'd1',
      valor: '7.00',
      natureza: 'ORIGINAL',
      descricao: 'Troca',
      rtrId: expect.stringMatching(new RegExp(`^D${ispb}\\d{12}\\w{11}$`)),
      horario: { solicitacao: expect.any(String) },
      status: 'EM_PROCESSAMENTO',
    })
    const { rtrId } = asked.json
    const sent = (await messagesOfPayment(pix.sql, endToEndId)).filter(
      ({ type }) => type === 'pacs.004',
    )
    expect(sent).toMatchObject([
      { instructionId: rtrId, amountCents: 700n, reason: 'MD06', direction: 'OUTBOUND' },
    ])
    // The same again: what became of it, and nothing more is sent.
    expect((await giveBack(endToEndId, 'd1', body)).json).toEqual(asked.json)
    await tell(report([{ endToEndId, instructionId: rtrId, status: 'ACCC' }]))
    const done = await get(`/pix/${endToEndId}/devolucao/d1`)
    expect(done).toMatchObject({ status: 'DEVOLVIDO', horario: { liquidacao: expect.any(String) } })
    expect((await giveBack(endToEndId, 'd1', body)).json).toEqual(done)
    expect((await get(`/pix/${endToEndId}`)).devolucoes).toEqual([done])
    const messages = await messagesOfPayment(pix.sql, endToEndId)
    expect(messages.filter(({ type }) => type === 'pacs.004')).toHaveLength(1)
  })

  const invalid = {
    status: 400,
    json: { type: 'https://pix.bcb.gov.br/api/v2/error/PixDevolucaoInvalida' },
  }

  test('never exceeds the Pix, with all others, however many come at once', async () => {
    const endToEndId = await settled()
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) => giveBack(endToEndId, `d${n}`, { valor: '10.00' })),
    )
    expect(all.filter(({ status }) => status === 201)).toHaveLength(3)
    const over = await giveBack(endToEndId, 'over', { valor: '7.01' })
    expect(over).toMatchObject(invalid)
    expect(over.json.violacoes).toMatchObject([{ propriedade: 'devolucao.valor', valor: '7.01' }])
    // What the SPI refuses is free again.
    const refused = all.find(({ status }) => status === 201)?.json
    const end = { endToEndId, instructionId: refused.rtrId, status: 'RJCT', reason: 'AM09' }
    await tell(report([end]))
    expect(await get(`/pix/${endToEndId}/devolucao/${refused.id}`)).toMatchObject({
      status: 'NAO_REALIZADO',
      motivo: 'AM09',
    })
    expect((await giveBack(endToEndId, 'rest', { valor: '17.00' })).status).toBe(201)
    expect((await giveBack(endToEndId, 'more', { valor: '0.01' })).status).toBe(400)
  })

  test('under an id that another has is refused', async () => {
    const endToEndId = await settled()
    await giveBack(endToEndId, 'd1', { valor: '1.00' })
    for (const body of [{ valor: '2.00' }, { valor: '1.00', descricao: 'x' }]) {
      expect(await giveBack(endToEndId, 'd1', body)).toMatchObject(invalid)
    }
    // Another Pix may have the same id.
    expect((await giveBack(await settled(), 'd1', { valor: '2.00' })).status).toBe(201)
  })

  test.each([
    [{}],
    [{ valor: '1' }],
    [{ valor: '0.00' }],
    [{ valor: 1 }],
    [{ valor: '1.00', natureza: 'MED_FRAUDE' }],
    [{ valor: '1.00', natureza: 'RETIRADA' }],
    [{ valor: '1.00', descricao: 'a'.repeat(141) }],
  ])('of %j is refused', async (body) => {
    expect(await giveBack(await settled(), 'd1', body)).toMatchObject(invalid)
  })

  test('that is no cash says so of its natureza', async () => {
    const { json } = await giveBack(await settled(), 'd1', { valor: '1.00', natureza: 'RETIRADA' })
    expect(json.violacoes).toEqual([
      {
        razao: 'O pix originário não é Pix Saque nem Pix Troco.',
        propriedade: 'devolucao.natureza',
        valor: 'RETIRADA',
      },
    ])
  })

  // Two are told to whoever pays.
  const { payee_differs: _, amount_differs: __, ...refused } = paymentErrors
  const said = { ...refused, not_found: httpErrors.not_found }
  const broken = (pointer: string) => invalidValue([{ pointer, rule: 'form', message: 'is wrong' }])
  test.each<[string, ApiError, string]>([
    ...Object.entries(said).map(([code, definition]): [string, ApiError, string] => [
      code,
      new ApiError(definition, 'This is English.'),
      code === 'refund_exceeds_payment' ? 'devolucao.valor' : 'e2eid',
    ]),
    ['the amount', broken('/amount'), 'devolucao.valor'],
    ['the reason', broken('/reason'), 'devolucao.natureza'],
    ['the text', broken('/remittance_information'), 'devolucao.descricao'],
    [
      'a text that is refused',
      refusedValue([
        { pointer: '/remittance_information', rule: 'blank', message: 'holds nothing' },
      ]),
      'devolucao.descricao',
    ],
    ['what the API has no name for', broken('/receiving_ispb'), 'devolucao'],
  ])(
    'that payments refuse for %s says so in the words of the standard',
    async (_, error, propriedade) => {
      const refunds = { refundWithin: () => Promise.reject(error) }
      const service = createPixService({ sql: pix.sql, refunds, now: () => new Date() })
      const request = { amountCents: 100n, nature: 'ORIGINAL', description: undefined } as const
      const actor = { kind: 'system', id: 'test' } as never
      const named = { endToEndId: await settled(), id: 'd1' }
      const problem = await service.giveBack('ana', named, request, actor).catch(problemOf)
      expect(problem).toMatchObject({
        status: 400,
        violacoes: [{ propriedade, razao: expect.any(String) }],
      })
      expect(JSON.stringify(problem)).not.toMatch(/English|is wrong|holds nothing|[Tt]he |More /)
    },
  )

  test('of what is not there, or another account’s, or not settled', async () => {
    const endToEndId = await settled()
    const pending = await pay({ txid: await made() })
    const none = fresh.endToEndId()
    for (const [id, by] of [
      [endToEndId, foreign.token],
      [pending, token],
      [none, token],
    ] as const) {
      const { status, json } = await giveBack(id, 'd1', { valor: '1.00' }, by)
      expect([status, json.type]).toEqual([
        ...[404, 'https://pix.bcb.gov.br/api/v2/error/PixNaoEncontrado'],
      ])
    }
    for (const id of ['d9', 'a'.repeat(36)]) {
      const missing = await call('GET', `/pix/${endToEndId}/devolucao/${id}`)
      expect([missing.status, missing.json.type]).toEqual([
        ...[404, 'https://pix.bcb.gov.br/api/v2/error/PixDevolucaoNaoEncontrada'],
      ])
    }
    expect(await giveBack(endToEndId, 'a'.repeat(36), { valor: '1.00' })).toMatchObject(invalid)
    expect((await giveBack(endToEndId, 'a'.repeat(35), { valor: '1.00' })).status).toBe(201)
  })
})
