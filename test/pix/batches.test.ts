/** Batches of charges with a due date: each charge is made or denied by itself, and the batch tells of it. */
import { afterAll, describe, expect, test } from 'bun:test'
import type { Queryable } from '#src/platform/database/index.ts'
import { batchItemsMax } from '../../src/pix/batches/body.ts'
import { sliceMax } from '../../src/pix/batches/service.ts'
import { freshTxid, type Json, startPix } from './support.ts'

let clock = new Date()
/** What happens once after the next transaction. */
let afterNext: (() => Promise<unknown>) | undefined
const pix = await startPix(
  () => clock,
  (sql) =>
    new Proxy(sql, {
      get: (target, name) =>
        name === 'begin'
          ? async (...args: Parameters<typeof target.begin>) => {
              const done = await target.begin(...args)
              const happens = afterNext
              afterNext = undefined
              await happens?.()
              return done
            }
          : Reflect.get(target, name),
    }),
)
afterAll(() => pix.database.close())
const address = { street: 'Rua 15, 1200', state: 'SP', postal_code: '70800100' }
const { key, token } = await pix.receiver('ana', undefined, address)
const other = await pix.receiver('bia', '98765432000198', address)
// Tokens are of today, which is past the day of the charges.
clock = new Date('2026-03-02T15:00:00Z')

const call = (method: string, path: string, body?: unknown, as = token) =>
  pix.call(method, `/pix/v2${path}`, { token: as, ...(body === undefined ? {} : { body }) })

const charge = (more: object = {}) => ({
  txid: freshTxid(),
  chave: key,
  valor: { original: '100.00' },
  calendario: { dataDeVencimento: '2026-03-04' },
  devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
  ...more,
})
const late = { calendario: { dataDeVencimento: '2026-03-01' } }
let lastId = 0
const freshId = (): number => ++lastId
const put = (id: number | string, cobsv: unknown, more: object = {}) =>
  call('PUT', `/lotecobv/${id}`, { descricao: 'Turno da manhã', cobsv, ...more })
const shown = async (id: number): Promise<Json> => (await call('GET', `/lotecobv/${id}`)).json
const statuses = async (id: number) => (await shown(id)).cobsv.map(({ status }: Json) => status)
const isThere = async ({ txid }: { txid: string }) =>
  (await call('GET', `/cobv/${txid}`)).status === 200

describe('a batch of charges', () => {
  test('makes what it can, denies the rest, and says why', async () => {
    const [good, bad, alsoGood] = [charge(), charge(late), charge()]
    const id = freshId()
    const answer = await put(id, [good, bad, alsoGood])
    expect([answer.status, answer.text]).toEqual([202, ''])
    const batch = await shown(id)
    expect(batch).toEqual({
      id,
      descricao: 'Turno da manhã',
      criacao: '2026-03-02T15:00:00.000Z',
      cobsv: [
        { txid: good.txid, status: 'CRIADA', criacao: '2026-03-02T15:00:00.000Z' },
        { txid: bad.txid, status: 'NEGADA', problema: expect.anything() },
        { txid: alsoGood.txid, status: 'CRIADA', criacao: '2026-03-02T15:00:00.000Z' },
      ],
    })
    expect(batch.cobsv[1].problema).toMatchObject({
      type: 'https://pix.bcb.gov.br/api/v2/error/CobVOperacaoInvalida',
      title: 'Cobrança com vencimento inválida.',
      status: 400,
      violacoes: [{ propriedade: 'cobv.calendario.dataDeVencimento', valor: '2026-03-01' }],
    })
    expect([await isThere(good), await isThere(bad), await isThere(alsoGood)]).toEqual([
      true,
      false,
      true,
    ])
    const list = await call('GET', '/lotecobv?inicio=2026-01-01T00:00:00Z&fim=2027-01-01T00:00:00Z')
    expect(list.json.lotes).toContainEqual(batch)
  })

  test('is put anew with the same charges only, and repairs what was denied', async () => {
    const [one, two] = [charge(), charge(late)]
    const id = freshId()
    await put(id, [one, two])
    for (const cobsv of [[one], [one, two, charge()], [one, charge()]]) {
      const { status, json } = await put(id, cobsv)
      expect([status, json.violacoes[0].propriedade]).toEqual([400, 'loteCobV.cobsV'])
    }
    const { calendario } = one
    const dearer = { ...one, valor: { original: '120.00' } }
    expect((await put(id, [dearer, { ...two, calendario }], { descricao: 'B' })).status).toBe(202)
    expect([(await shown(id)).descricao, await statuses(id)]).toEqual(['B', ['CRIADA', 'CRIADA']])
    const revised = (await call('GET', `/cobv/${one.txid}`)).json
    expect(revised).toMatchObject({ revisao: 1, valor: { original: '120.00' } })
    await put(id, [dearer, { ...two, calendario }])
    expect((await call('GET', `/cobv/${one.txid}`)).json.revisao).toBe(1)
  })

  test('takes no charge that is there, nor one of another batch, and then makes none', async () => {
    const [single, denied] = [charge(), charge(late)]
    await call('PUT', `/cobv/${single.txid}`, single)
    await put(freshId(), [denied])
    for (const taken of [single, denied]) {
      const [id, innocent] = [freshId(), charge()]
      const { status, json } = await put(id, [innocent, taken])
      expect([status, json.type]).toEqual([
        ...[400, 'https://pix.bcb.gov.br/api/v2/error/LoteCobVOperacaoInvalida'],
      ])
      expect(await isThere(innocent)).toBe(false)
      expect((await call('GET', `/lotecobv/${id}`)).status).toBe(404)
    }
  })

  test('is revised in part; a charge that was denied is asked for by its batch alone', async () => {
    const [one, two, three] = [charge(), charge(late), charge()]
    const id = freshId()
    await put(id, [one, two, three])
    const { calendario } = one
    for (const method of ['PUT', 'PATCH']) {
      const { status, json } = await call(method, `/cobv/${two.txid}`, { ...two, calendario })
      expect([status, json.violacoes[0].propriedade]).toEqual([400, 'cobv.txid'])
    }
    const changes = [
      { txid: one.txid, valor: { original: '90.00' } },
      { txid: three.txid, ...late },
    ]
    expect((await call('PATCH', `/lotecobv/${id}`, { cobsv: changes })).status).toBe(202)
    const { cobsv } = await shown(id)
    // What could not be revised is there as it was.
    expect(cobsv[2]).toMatchObject({ status: 'NEGADA', criacao: '2026-03-02T15:00:00.000Z' })
    expect((await call('GET', `/cobv/${three.txid}`)).json).toMatchObject({
      revisao: 0,
      calendario,
    })
    expect((await call('GET', `/cobv/${one.txid}`)).json.valor.original).toBe('90.00')
    const stranger = { cobsv: [{ ...changes[0], txid: freshTxid() }] }
    expect((await call('PATCH', `/lotecobv/${id}`, stranger)).status).toBe(400)
    expect((await call('PATCH', `/lotecobv/${freshId()}`, { cobsv: changes })).status).toBe(404)
  })

  test('is its account’s alone, which may give it the number that others have', async () => {
    const [id, ours] = [freshId(), charge()]
    await put(id, [ours])
    expect((await call('GET', `/lotecobv/${id}`, undefined, other.token)).status).toBe(404)
    const theirs = { descricao: 'Nosso', cobsv: [charge({ chave: other.key })] }
    expect((await call('PUT', `/lotecobv/${id}`, theirs, other.token)).status).toBe(202)
    expect((await shown(id)).cobsv[0].txid).toBe(ours.txid)
    // The one charge with another's key is denied.
    const wrongId = freshId()
    await put(wrongId, [charge({ chave: other.key }), charge()])
    expect(await statuses(wrongId)).toEqual(['NEGADA', 'CRIADA'])
  })

  test('put twice at once makes every charge once', async () => {
    const [id, cobsv] = [freshId(), [charge(), charge(), charge()]]
    const answers = await Promise.all([put(id, cobsv), put(id, cobsv), put(id, cobsv)])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    const [{ txid = '' } = {}] = cobsv
    expect((await call('GET', `/cobv/${txid}`)).json.revisao).toBe(0)
  })

  test.each([
    ['no description', { descricao: undefined }, 'loteCobV.descricao'],
    ['a description of 201 characters', { descricao: 'a'.repeat(201) }, 'loteCobV.descricao'],
    ['no charges', { cobsv: undefined }, 'loteCobV.cobsV'],
    ['an empty array', { cobsv: [] }, 'loteCobV.cobsV'],
    ['a charge without a txid', { cobsv: [charge({ txid: undefined })] }, 'loteCobV.cobsV'],
    ['a charge that is no object', { cobsv: ['x'] }, 'loteCobV.cobsV'],
    ['one txid twice', { cobsv: Array(2).fill(charge()) }, 'loteCobV.cobsV'],
  ])('refuses %s', async (_, body, propriedade) => {
    const { status, json } = await put(freshId(), [charge()], body)
    expect([status, json.violacoes]).toMatchObject([400, [{ propriedade }]])
  })

  test('asks for the charges of another in the opposite order, and neither waits for ever', async () => {
    for (let round = 0; round < 2; round++) {
      const cobsv = Array.from({ length: 60 }, () => charge())
      const reversed = cobsv.toReversed()
      const both = await Promise.all([put(freshId(), cobsv), put(freshId(), reversed)])
      expect(both.map(({ status }) => status).toSorted()).toEqual([202, 400])
    }
  })

  test('asks for the charges of another account of its receiver in the opposite order, and one makes them all', async () => {
    const twin = await pix.receiver('caio', '12345678000195', address)
    for (let round = 0; round < 2; round++) {
      const cobsv = Array.from({ length: 60 }, () => charge())
      const theirs = cobsv.map((one) => ({ ...one, chave: twin.key })).toReversed()
      const [here, there] = [freshId(), freshId()]
      const body = { descricao: 'Turno da tarde', cobsv: theirs }
      const both = await Promise.all([
        put(here, cobsv),
        call('PUT', `/lotecobv/${there}`, body, twin.token),
      ])
      expect(both.map(({ status }) => status)).toEqual([202, 202])
      const { json } = await call('GET', `/lotecobv/${there}`, undefined, twin.token)
      const made = [...(await statuses(here)), ...json.cobsv.map(({ status }: Json) => status)]
      expect(made.filter((status) => status === 'CRIADA')).toHaveLength(cobsv.length)
    }
  })

  test('takes the locations of another in the opposite order, and neither waits for ever', async () => {
    const kind = { tipoCob: 'cobv' }
    for (let round = 0; round < 3; round++) {
      const locations: Json[] = []
      for (let at = 0; at < 30; at++) locations.push((await call('POST', '/loc', kind)).json)
      const bound = (all: readonly Json[]) =>
        all.map((loc, at) =>
          charge({
            txid: `${String(at).padStart(4, '0')}${freshTxid().slice(4)}`,
            loc: { id: loc.id },
          }),
        )
      const [here, there] = [freshId(), freshId()]
      const both = await Promise.all([
        put(here, bound(locations)),
        put(there, bound(locations.toReversed())),
      ])
      expect(both.map(({ status }) => status)).toEqual([202, 202])
      const made = [...(await statuses(here)), ...(await statuses(there))]
      // A location shows one charge.
      expect(made.filter((status: string) => status === 'CRIADA')).toHaveLength(30)
    }
  })

  test('gives its charges each other’s locations while another does the same, and neither waits for ever', async () => {
    const [first, second] = [freshId(), freshId()]
    const cobsv = Array.from({ length: 30 }, () => charge())
    const others = Array.from({ length: 30 }, () => charge())
    expect((await put(first, cobsv)).status).toBe(202)
    expect((await put(second, others)).status).toBe(202)
    const idOf = async ({ txid }: { txid: string }) =>
      (await call('GET', `/cobv/${txid}`)).json.loc.id
    const ids = await Promise.all([...cobsv, ...others].map(idOf))
    for (let round = 0; round < 3; round++) {
      const given = (items: readonly { txid: string }[], order: readonly number[]) =>
        items.map(({ txid }, at) => ({ txid, loc: { id: order[at] } }))
      const both = await Promise.all([
        call('PATCH', `/lotecobv/${first}`, { cobsv: given(cobsv, ids.slice(30).toReversed()) }),
        call('PATCH', `/lotecobv/${second}`, { cobsv: given(others, ids.slice(0, 30)) }),
      ])
      expect(both.map(({ status }) => status)).toEqual([202, 202])
    }
    const shownAt = await Promise.all(
      [...cobsv, ...others].map(
        async ({ txid }) => (await call('GET', `/cobv/${txid}`)).json.loc?.id,
      ),
    )
    const present = shownAt.filter((id) => id !== undefined)
    expect(new Set(present).size).toBe(present.length)
  })

  test('is revised while its charges are paid, whatever the order', async () => {
    const cobsv = Array.from({ length: 40 }, () => charge())
    const txids = cobsv.map(({ txid }) => txid)
    const id = freshId()
    expect((await put(id, cobsv)).status).toBe(202)
    const payment = (txid: string): Json => ({
      endToEndId: `E9119355220260302${txid.slice(-15)}`,
      txid,
      amountCents: 1n,
      localInstrument: 'QRDN',
      creditorDocument: '12345678000195',
      creditorKey: key,
      debtorDocument: '15231470190',
      text: null,
      withdrawal: null,
    })
    const pay = (order: readonly string[]) =>
      pix.sql.begin((tx) => pix.receivables?.receive(tx, order.map(payment), clock))
    for (let round = 0; round < 3; round++) {
      const changed = txids.toReversed().map((txid) => ({
        txid,
        valor: { original: `1${round}0.00` },
      }))
      const revised = call('PATCH', `/lotecobv/${id}`, { cobsv: changed })
      const [{ status }] = await Promise.all([revised, pay(txids), pay(txids.toReversed())])
      expect(status).toBe(202)
    }
  })

  test.each(['PUT', 'PATCH'])('that is there holds few charges at a time: %s', async (method) => {
    const cobsv = Array.from({ length: sliceMax + 1 }, () => charge())
    const id = freshId()
    expect((await put(id, cobsv)).status).toBe(202)
    const [first = '', ...others] = cobsv.map(({ txid }) => txid).toSorted()
    const lock = (tx: Queryable, txid = '') => tx`
      select from pix_charges where txid = ${txid} for update skip locked`
    const holder = await pix.sql.reserve()
    try {
      await holder`begin`
      await lock(holder, others.at(-1))
      const dearer = cobsv.map((one) => ({ ...one, valor: { original: '120.00' } }))
      const body = { descricao: 'B', cobsv: dearer }
      const asked = call(method, `/lotecobv/${id}`, body)
      while ((await call('GET', `/cobv/${first}`)).json.revisao === 0) await Bun.sleep(5)
      expect((await lock(holder, first)).count).toBe(1)
      await holder`rollback`
      expect((await asked).status).toBe(202)
    } finally {
      holder.release()
    }
    for (const txid of [first, others.at(-1)]) {
      expect((await call('GET', `/cobv/${txid}`)).json.valor.original).toBe('120.00')
    }
    expect(new Set(await statuses(id))).toEqual(new Set(['CRIADA']))
  })

  test.each([
    ['PUT', 'PUT'],
    ['PUT', 'PATCH'],
    ['PATCH', 'PUT'],
    ['PATCH', 'PATCH'],
  ])('that is there is left to the change that began last: %s, then %s', async (first, last) => {
    const cobsv = Array.from({ length: 3 * sliceMax }, () => charge())
    const id = freshId()
    expect((await put(id, cobsv)).status).toBe(202)
    const change = (method: string, original: string) => {
      const changed = cobsv.map((one) => ({ ...one, valor: { original } }))
      return call(method, `/lotecobv/${id}`, { descricao: original, cobsv: changed })
    }
    let answered = 0
    afterNext = async () => {
      // What is refused as a whole overtakes nobody.
      expect((await put(id, [charge()])).status).toBe(400)
      answered = (await change(last, '222.00')).status
    }
    const overtaken = await change(first, '111.00')
    expect([answered, overtaken.status, overtaken.headers.get('Retry-After')]).toEqual([
      ...[202, 503, '1'],
    ])
    const values = await pix.sql`
      select distinct original_cents as cents from pix_charges
      where txid in (select txid from pix_batch_items where account = 'ana' and batch_id = ${id})`
    expect([...values]).toEqual([{ cents: 22_200n }])
    expect((await shown(id)).descricao).toBe('222.00')
    expect((await change(first, '111.00')).status).toBe(202)
  })

  test('is revised while a charge of it is paid, which stays CRIADA and may be changed afterwards', async () => {
    const [paid, free] = [charge(), charge()]
    const id = freshId()
    await put(id, [paid, free])
    const endToEndId = `E9119355220260302${paid.txid.slice(-15)}`
    const payment = {
      endToEndId,
      txid: paid.txid,
      amountCents: 10_000n,
      localInstrument: 'QRDN',
      creditorDocument: '12345678000195',
      creditorKey: key,
      debtorDocument: '15231470190',
      text: null,
      withdrawal: null,
    }
    await pix.sql.begin((tx) => pix.receivables?.receive(tx, [payment], clock))
    const dearer = { valor: { original: '120.00' } }
    const cobsv = [paid, free].map(({ txid }) => ({ txid, ...dearer }))
    expect((await call('PATCH', `/lotecobv/${id}`, { cobsv })).status).toBe(202)
    const [first, second] = (await shown(id)).cobsv
    expect(first).toMatchObject({
      status: 'CRIADA',
      criacao: '2026-03-02T15:00:00.000Z',
      problema: { status: 400, violacoes: [{ propriedade: 'cobv.status' }] },
    })
    expect(second).toEqual({
      txid: free.txid,
      status: 'CRIADA',
      criacao: '2026-03-02T15:00:00.000Z',
    })
    const refused = [{ endToEndId, returnId: null, isSettled: false, reason: 'AB03' }]
    await pix.sql.begin(async (tx) => pix.receivables?.end(tx, refused, clock))
    const alone = await call('PATCH', `/cobv/${paid.txid}`, dearer)
    expect([alone.status, alone.json.valor.original]).toEqual([200, '120.00'])
    expect((await call('PATCH', `/lotecobv/${id}`, { cobsv })).status).toBe(202)
    expect((await shown(id)).cobsv[0].problema).toBeUndefined()
  })

  test('narrows the list of charges with a due date', async () => {
    const [first, second, denied] = [charge(), charge(), charge({ chave: 'nobody' })]
    const [id, beside] = [freshId(), freshId()]
    await put(id, [second, denied, first])
    await put(beside, [charge()])
    const range = 'inicio=2026-01-01T00:00:00Z&fim=2027-01-01T00:00:00Z'
    const listed = async (more: string) => {
      const { json } = await call('GET', `/cobv?${range}&${more}`)
      return json.violacoes?.[0].propriedade ?? json.cobs.map(({ txid }: Json) => txid)
    }
    const made = [first.txid, second.txid].sort()
    expect((await listed(`loteCobVId=${id}`)).sort()).toEqual(made)
    expect((await listed(`loteCobVId=${id}&status=ATIVA&cpf=12345678909`)).sort()).toEqual(made)
    await call('PATCH', `/cobv/${first.txid}`, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' })
    expect(await listed(`loteCobVId=${id}&status=ATIVA`)).toEqual([second.txid])
    expect(await listed(`loteCobVId=${freshId()}`)).toEqual([])
    for (const wrong of ['0', '1.5', 'lote', '9007199254740992', `${id}&loteCobVId=${beside}`]) {
      expect(await listed(`loteCobVId=${wrong}`)).toBe('loteCobVId')
    }
    // Another account numbers its own.
    const theirs = await call('GET', `/cobv?${range}&loteCobVId=${id}`, undefined, other.token)
    expect([theirs.json.cobs, theirs.json.parametros.loteCobVId]).toEqual([[], id])
  })

  test('has bounds for its number, its length and its list', async () => {
    for (const id of ['0', '-1', '1.5', 'lote', '9007199254740992', '9'.repeat(30)]) {
      const { status, json } = await put(id, [charge()])
      expect([status, json.violacoes[0].propriedade]).toEqual([400, 'loteCobV.id'])
      expect((await call('GET', `/lotecobv/${id}`)).json.type).toEndWith('LoteCobVConsultaInvalida')
    }
    const largest = Number.MAX_SAFE_INTEGER
    expect((await put(largest, [charge(late)])).status).toBe(202)
    expect((await shown(largest)).id).toBe(largest)
    const many = (count: number) => Array.from({ length: count }, () => charge(late))
    expect((await put(freshId(), many(batchItemsMax + 1))).status).toBe(400)
    const id = freshId()
    expect((await put(id, many(batchItemsMax))).status).toBe(202)
    expect(await statuses(id)).toHaveLength(batchItemsMax)
    const range = 'inicio=2026-01-01T00:00:00Z&fim=2027-01-01T00:00:00Z'
    const page = (size: number) =>
      call('GET', `/lotecobv?${range}&paginacao.itensPorPagina=${size}`)
    expect([(await page(100)).status, (await page(101)).status]).toEqual([200, 400])
    const second = await call(
      'GET',
      `/lotecobv?${range}&paginacao.itensPorPagina=1&paginacao.paginaAtual=1`,
    )
    expect(second.json.lotes).toHaveLength(1)
    expect((await call('GET', '/lotecobv')).status).toBe(400)
  })
})
