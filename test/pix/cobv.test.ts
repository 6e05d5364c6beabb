/** Charges with a due date: what is asked for, read at their location, and taken of payers. */
import { describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { messagesOfPayment } from '../../src/spi/payments/store.ts'
import { fresh, payment, report, runningWorker, tellingOf } from '../spi/in/worker/support.ts'
import { freshTxid, host, type Json, startPix } from './support.ts'

let clock = new Date()
const pix = await startPix(() => clock)
const worker = await runningWorker(pix.database, { autoAccept: true, receivables: pix.receivables })
const address = { street: 'Rua 15, 1200', state: 'SP', postal_code: '70800100' }
const { key, token } = await pix.receiver('ana', undefined, address)

const call = (method: string, path: string, body?: object) =>
  pix.call(method, `/pix/v2${path}`, { token, ...(body && { body }) })

const valor = {
  original: '100.00',
  multa: { modalidade: 2, valorPerc: '3.00' },
  juros: { modalidade: 2, valorPerc: '1.00' },
}
const debtor = {
  cpf: '12345678909',
  nome: 'Francisco da Silva',
  email: 'francisco@example.com',
  logradouro: 'Alameda Souza, 80',
  cidade: 'Recife',
  uf: 'PE',
  cep: '70011750',
}
const dueBody = (more: object = {}) => ({
  calendario: { dataDeVencimento: '2026-03-04', validadeAposVencimento: 5 },
  devedor: debtor,
  valor,
  chave: key,
  solicitacaoPagador: 'Mensalidade.',
  ...more,
})
const put = (body: object, txid = freshTxid()) => call('PUT', `/cobv/${txid}`, body)
const made = async (more: object = {}): Promise<Json> => {
  clock = new Date('2026-03-02T15:00:00Z')
  const { status, text, json } = await put(dueBody(more))
  if (status !== 201) throw new Error(text)
  return json
}
const at = (instant: string): void => {
  clock = new Date(instant)
}
const read = async ({ location }: Json, query = '') => {
  const path = `${location.slice(host.length)}${query}`
  const { status, text, json } = await pix.call('GET', path)
  return { status, json: status === 200 ? (decodeJwt(text) as Json) : json }
}

describe('a charge with a due date', () => {
  test('is made, read, revised, listed and removed apart from the immediate ones', async () => {
    const one = await made()
    expect(one).toEqual({
      calendario: {
        criacao: '2026-03-02T15:00:00.000Z',
        dataDeVencimento: '2026-03-04',
        validadeAposVencimento: 5,
      },
      txid: one.txid,
      revisao: 0,
      status: 'ATIVA',
      chave: key,
      devedor: debtor,
      valor,
      loc: expect.objectContaining({ tipoCob: 'cobv', location: one.location }),
      location: expect.stringMatching(new RegExp(`^${host}/qr/v2/cobv/[0-9a-f]{32}$`)),
      solicitacaoPagador: 'Mensalidade.',
      recebedor: {
        cnpj: '12345678000195',
        nome: 'Padaria São José',
        cidade: 'São Paulo',
        logradouro: 'Rua 15, 1200',
        uf: 'SP',
        cep: '70800100',
      },
      pixCopiaECola: expect.stringContaining(one.location),
    })
    expect(one.location.length).toBeLessThanOrEqual(77)
    expect((await call('GET', `/cobv/${one.txid}`)).json).toEqual(one)
    expect((await put(dueBody(), one.txid)).json).toEqual(one)
    expect((await call('GET', `/cob/${one.txid}`)).status).toBe(404)
    const cob = { calendario: {}, valor: { original: '1.00' }, chave: key }
    const taken = await call('PUT', `/cob/${one.txid}`, cob)
    expect([taken.status, taken.json.violacoes[0].propriedade]).toEqual([400, 'cob.txid'])
    const change = { calendario: { dataDeVencimento: '2026-03-05' } }
    const changed = (await call('PATCH', `/cobv/${one.txid}`, change)).json
    expect(changed).toMatchObject({
      revisao: 1,
      valor,
      calendario: { dataDeVencimento: '2026-03-05', validadeAposVencimento: 5 },
    })
    expect((await call('GET', `/cobv/${one.txid}?revisao=0`)).json).toEqual(one)
    const range = 'inicio=2026-01-01T00:00:00Z&fim=2026-12-31T00:00:00Z'
    const txids = async (kind: string) =>
      (await call('GET', `/${kind}?${range}`)).json.cobs.map(({ txid }: Json) => txid)
    expect(await txids('cobv')).toContain(one.txid)
    expect(await txids('cob')).not.toContain(one.txid)
    const gone = await call('PATCH', `/cobv/${one.txid}`, {
      status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR',
    })
    expect(gone.json).toMatchObject({ status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR', revisao: 2 })
  })

  test('shows nothing of another account that has its key now', async () => {
    clock = new Date()
    const first = await pix.receiver('carla', undefined, address)
    const use = (method: string, path: string, body?: object) =>
      pix.call(method, `/pix/v2${path}`, { token: first.token, ...(body && { body }) })
    clock = new Date('2026-03-02T15:00:00Z')
    const made = await use('PUT', `/cobv/${freshTxid()}`, dueBody({ chave: first.key }))
    clock = new Date()
    const away = await pix.call('DELETE', `/v1/pix/receivers/${first.key}`, { token: pix.operator })
    expect([made.status, away.status]).toEqual([201, 204])
    await pix.receiver('davi', '11222333000181', { ...address, key: first.key, name: 'Outra' })
    clock = new Date('2026-03-02T16:00:00Z')
    const { json } = await use('GET', `/cobv/${made.json.txid}`)
    expect([json.status, json.recebedor, json.pixCopiaECola]).toEqual([
      ...['ATIVA', undefined, undefined],
    ])
    expect((await read(made.json)).json.recebedor).toBeUndefined()
    const range = 'inicio=2026-01-01T00:00:00Z&fim=2027-12-31T00:00:00Z'
    const listed = (await use('GET', `/cobv?${range}`)).json.cobs
    expect(listed.map((one: Json) => one.recebedor)).toEqual([undefined])
  })

  test('needs the address of its receiver', async () => {
    const bare = await pix.receiver('ana')
    const { status, json } = await put(dueBody({ chave: bare.key }))
    expect([status, json.violacoes[0].propriedade]).toEqual([400, 'cobv.chave'])
  })

  const discount = (more: object) => ({ valor: { ...valor, desconto: more } })
  const steps = (data: string, valorPerc: string) => [{ data, valorPerc }]
  test.each([
    [{ devedor: undefined }, 'cobv.devedor'],
    [{ devedor: { ...debtor, cnpj: '12345678000195' } }, 'cobv.devedor'],
    [{ calendario: undefined }, 'cobv.calendario'],
    [{ calendario: { dataDeVencimento: '2026-02-30' } }, 'cobv.calendario.dataDeVencimento'],
    [{ calendario: { dataDeVencimento: '2026-03-01' } }, 'cobv.calendario.dataDeVencimento'],
    [{ calendario: { dataDeVencimento: '2037-01-01' } }, 'cobv.calendario.dataDeVencimento'],
    [
      { calendario: { dataDeVencimento: '2026-03-04', validadeAposVencimento: -1 } },
      'cobv.calendario.validadeAposVencimento',
    ],
    [{ valor: { ...valor, original: '0.00' } }, 'cobv.valor.original'],
    [{ valor: { ...valor, original: '1' } }, 'cobv.valor.original'],
    [{ valor: { ...valor, multa: { modalidade: 3, valorPerc: '1.00' } } }, 'cobv.valor.multa'],
    [{ valor: { ...valor, juros: { modalidade: 9, valorPerc: '1.00' } } }, 'cobv.valor.juros'],
    [{ valor: { ...valor, juros: { modalidade: 1 } } }, 'cobv.valor.juros'],
    ...[1, 2, 5, 6].map((modalidade): [object, string] => [
      { valor: { ...valor, juros: { modalidade, valorPerc: '9999999999.99' } } },
      'cobv.valor',
    ]),
    [{ valor: { ...valor, multa: { modalidade: 1, valorPerc: '9999999999.99' } } }, 'cobv.valor'],
    [{ valor: { ...valor, original: '9999999999.99' } }, 'cobv.valor'],
    [
      { valor: { ...valor, abatimento: { modalidade: 1, valorPerc: '100.00' } } },
      'cobv.valor.abatimento',
    ],
    [
      { valor: { ...valor, abatimento: { modalidade: 2, valorPerc: '100.00' } } },
      'cobv.valor.abatimento',
    ],
    [discount({ modalidade: 1, descontoDataFixa: [] }), 'cobv.valor.desconto'],
    [
      discount({ modalidade: 1, descontoDataFixa: steps('2026-03-05', '1.00') }),
      'cobv.valor.desconto',
    ],
    [
      discount({ modalidade: 2, descontoDataFixa: steps('2026-03-04', '100.00') }),
      'cobv.valor.desconto',
    ],
    [
      discount({
        modalidade: 1,
        valorPerc: '1.00',
        descontoDataFixa: steps('2026-03-04', '1.00'),
      }),
      'cobv.valor.desconto',
    ],
    [discount({ modalidade: 3 }), 'cobv.valor.desconto'],
    [
      discount({
        modalidade: 3,
        valorPerc: '1.00',
        descontoDataFixa: steps('2026-03-04', '1.00'),
      }),
      'cobv.valor.desconto',
    ],
    // Two days early it would come to nothing.
    [discount({ modalidade: 3, valorPerc: '50.00' }), 'cobv.valor.desconto'],
    // So it would by a later step, of what the rebate leaves.
    ...(['2026-03-03', '2026-03-04'] as const).map((until): [object, string] => {
      const abatimento = { modalidade: 1, valorPerc: '50.00' }
      const descontoDataFixa = [...steps('2026-03-02', '10.00'), ...steps(until, '50.00')]
      const desconto = { modalidade: 1, descontoDataFixa }
      return [{ valor: { ...valor, abatimento, desconto } }, 'cobv.valor.desconto']
    }),
    // Rounded, it is all.
    [
      {
        valor: {
          original: '0.01',
          desconto: {
            modalidade: 2,
            descontoDataFixa: [...steps('2026-03-02', '1.00'), ...steps('2026-03-03', '99.00')],
          },
        },
      },
      'cobv.valor.desconto',
    ],
  ])('of %j is refused: %s', async (more, propriedade) => {
    clock = new Date('2026-03-02T15:00:00Z')
    const { status, json } = await put(dueBody(more))
    expect([status, json.type]).toEqual([
      ...[400, 'https://pix.bcb.gov.br/api/v2/error/CobVOperacaoInvalida'],
    ])
    expect(json.violacoes).toEqual([expect.objectContaining({ propriedade })])
  })
})

describe('its payload', () => {
  test('has room for the most that a charge may come to', async () => {
    const calendario = { dataDeVencimento: '2026-03-04', validadeAposVencimento: 2 }
    const most = { original: '9999999999.97', juros: { modalidade: 1, valorPerc: '0.01' } }
    const one = await made({ calendario, valor: most })
    const { valor: owed } = (await read(one, '?DPP=2026-03-06')).json
    expect(owed).toEqual({ original: '9999999999.97', juros: '0.02', final: '9999999999.99' })
    const more = { ...most, juros: { modalidade: 1, valorPerc: '0.02' } }
    const refused = await call('PATCH', `/cobv/${one.txid}`, { valor: more })
    expect([refused.status, refused.json.violacoes[0].propriedade]).toEqual([400, 'cobv.valor'])
  })

  test('says what is owed on the day, and of the debtor no more than name and tax id', async () => {
    const one = await made()
    expect((await read(one)).json).toEqual({
      revisao: 0,
      calendario: { ...one.calendario, apresentacao: '2026-03-02T15:00:00.000Z' },
      txid: one.txid,
      status: 'ATIVA',
      chave: key,
      recebedor: one.recebedor,
      devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
      valor: { original: '100.00', final: '100.00' },
      solicitacaoPagador: 'Mensalidade.',
    })
    const valueOn = async (query: string) => (await read(one, query)).json.valor
    const late = { original: '100.00', multa: '3.00', juros: '2.00', final: '105.00' }
    expect(await valueOn('?DPP=2026-03-06&codMun=3550308')).toEqual(late)
    // By the day of São Paulo, three hours behind.
    at('2026-03-06T02:59:59Z')
    expect((await valueOn('')).final).toBe('104.00')
    at('2026-03-06T03:00:00Z')
    expect(await valueOn('')).toEqual(late)
  })

  test('counts over the end of the year: what is due on its last day costs no more until the first Monday', async () => {
    const calendario = { dataDeVencimento: '2026-12-31', validadeAposVencimento: 5 }
    const one = await made({ calendario })
    const finalAt = async (instant: string) => {
      at(instant)
      return (await read(one)).json.valor.final
    }
    // In London it is 2027 already.
    expect(await finalAt('2027-01-01T02:59:59.999Z')).toBe('100.00')
    expect(await finalAt('2027-01-04T02:59:59.999Z')).toBe('100.00')
    expect(await finalAt('2027-01-04T03:00:00.000Z')).toBe('107.00')
    at('2027-01-01T02:59:59.999Z')
    expect((await read(one, '?DPP=2026-12-30')).status).toBe(400)
    expect((await read(one, '?DPP=2026-12-31')).status).toBe(200)
    at('2027-01-01T03:00:00.000Z')
    expect((await read(one, '?DPP=2026-12-31')).status).toBe(400)
  })

  test.each([
    ['?codMun=123', 'codMun'],
    ['?DPP=2026-3-6', 'DPP'],
    ['?DPP=2026-03-01', 'DPP'],
    ['?DPP=2026-03-10', 'DPP'],
  ])('is refused for %s', async (query, propriedade) => {
    const { status, json } = await read(await made(), query)
    expect([status, json.type, json.violacoes[0].propriedade]).toEqual([
      400,
      'https://pix.bcb.gov.br/api/v2/error/CobPayloadOperacaoInvalida',
      propriedade,
    ])
  })

  test('is at no location of an immediate charge', async () => {
    const one = await made()
    const other = { location: one.location.replace('/cobv/', '/') }
    expect((await read(other)).status).toBe(404)
  })
})

describe('a payment of it', () => {
  const pay = async (txid: string, amount: string): Promise<string> => {
    const endToEndId = fresh.endToEndId()
    await tell(
      payment({
        endToEndId,
        amount,
        instrument: 'QRDN',
        transactionId: `<TxId>${txid}</TxId>`,
        proxy: `<Prxy><Id>${key}</Id></Prxy>`,
      }).replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2'),
    )
    return endToEndId
  }
  const tell = tellingOf(pix.database, worker)
  const answerTo = async (endToEndId: string) =>
    (await messagesOfPayment(pix.sql, endToEndId))
      .filter(({ type, direction }) => type === 'pacs.002' && direction === 'OUTBOUND')
      .map(({ status, reason }) => (reason === null ? status : `${status} ${reason}`))

  test('is taken with what is owed today alone, and shown with its parts', async () => {
    // The worker has the clock of the machine.
    const created = new Date(Date.now() - 40 * 86_400_000)
    clock = created
    const due = new Date(created.getTime() + 86_400_000).toISOString().slice(0, 10)
    const values = { original: '100.00', juros: { modalidade: 1, valorPerc: '1.00' } }
    const body = dueBody({ calendario: { dataDeVencimento: due, validadeAposVencimento: 300 } })
    const { json: one } = await put({ ...body, valor: values })
    clock = new Date()
    const { final, juros } = (await read(one)).json.valor
    expect(juros).not.toBeUndefined()
    expect(await answerTo(await pay(one.txid, '100.00'))).toEqual(['RJCT BE17'])
    const paid = await pay(one.txid, final)
    expect(await answerTo(paid)).toEqual(['ACSP'])
    const removal = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }
    expect(await call('PATCH', `/cobv/${one.txid}`, removal)).toMatchObject({
      status: 400,
      json: { violacoes: [{ propriedade: 'cobv.status', valor: 'ATIVA' }] },
    })
    await tell(report([{ endToEndId: paid, status: 'ACCC' }]))
    expect((await call('GET', `/cobv/${one.txid}`)).json).toMatchObject({
      status: 'CONCLUIDA',
      pix: [
        {
          endToEndId: paid,
          txid: one.txid,
          valor: final,
          componentesValor: { original: { valor: '100.00' }, juros: { valor: juros } },
        },
      ],
    })
  })

  test('is refused after its last day', async () => {
    clock = new Date(Date.now() - 60 * 86_400_000)
    const dueOn = clock.toISOString().slice(0, 10)
    const calendario = { dataDeVencimento: addDay(dueOn), validadeAposVencimento: 1 }
    const { json: one } = await put(dueBody({ calendario, valor: { original: '100.00' } }))
    expect(await answerTo(await pay(one.txid, '100.00'))).toEqual(['RJCT BE17'])
  })

  const addDay = (day: string): string =>
    new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
})
