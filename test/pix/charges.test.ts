import { afterAll, describe, expect, test } from 'bun:test'
import { parseBrCode } from '#codecs/brcode'
import { itemsMax } from '../../src/pix/pages.ts'
import { chargeBody, freshTxid, host, type Json, startPix } from './support.ts'

let clock: Date | undefined
const pix = await startPix(() => clock ?? new Date())
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')
const foreign = await pix.receiver('bia', '11222333000181')

const put = (txid: string, body: unknown, by = token) =>
  pix.call('PUT', `/pix/v2/cob/${txid}`, { token: by, body })
const patch = (txid: string, body: unknown) =>
  pix.call('PATCH', `/pix/v2/cob/${txid}`, { token, body })
const get = (path: string, by = token) => pix.call('GET', `/pix/v2${path}`, { token: by })
const newLocation = async (tipoCob = 'cob') =>
  (await pix.call('POST', '/pix/v2/loc', { token, body: { tipoCob } })).json

const problem = (type: string, status: number, ...propriedades: readonly string[]) => ({
  status,
  json: {
    type: `https://pix.bcb.gov.br/api/v2/error/${type}`,
    status,
    title: expect.any(String),
    detail: expect.any(String),
    correlationId: expect.any(String),
    ...(propriedades.length === 0
      ? {}
      : {
          violacoes: propriedades.map((propriedade) =>
            expect.objectContaining({ propriedade, razao: expect.any(String) }),
          ),
        }),
  },
})
const seen = ({ status, json }: { status: number; json: Json }) => ({ status, json })

describe('a charge', () => {
  test('is made by PUT, with a location and the text of its QR code', async () => {
    const txid = freshTxid()
    const made = await put(txid, chargeBody(key))
    expect(made.status).toBe(201)
    const { json } = made
    expect(json).toEqual({
      calendario: { criacao: expect.stringMatching(/Z$/), expiracao: 3_600 },
      txid,
      revisao: 0,
      status: 'ATIVA',
      chave: key,
      loc: {
        id: expect.any(Number),
        txid,
        tipoCob: 'cob',
        criacao: json.calendario.criacao,
        location: json.location,
      },
      location: expect.stringMatching(new RegExp(`^${host}/qr/v2/[0-9a-f]{32}$`)),
      devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
      valor: { original: '37.00', modalidadeAlteracao: 0 },
      solicitacaoPagador: 'Serviço realizado.',
      infoAdicionais: [{ nome: 'Campo 1', valor: 'Informação' }],
      pixCopiaECola: expect.any(String),
    })
    expect(json.location.length).toBeLessThanOrEqual(77)
    expect(parseBrCode(json.pixCopiaECola)).toMatchObject({
      merchantName: 'Padaria Sao Jose',
      merchantCity: 'Sao Paulo',
      pix: { kind: 'dynamic', url: json.location },
    })
    expect((await get(`/cob/${txid}`)).json).toEqual(json)
  })

  test('has the receiver in its QR code without a loss; one whose name ASCII cannot write is refused', async () => {
    const set = (more: object) => {
      const body = { key, account: 'ana', tax_id: '12345678000195', name: 'Ana', city: 'Recife' }
      return pix.call('PUT', '/v1/pix/receivers', {
        token: pix.operator,
        body: { ...body, ...more },
      })
    }
    for (const [member, value] of [
      ['name', 'Loja 日本'],
      ['city', '日本'],
      ['city', '  '],
    ] as const) {
      const { status, json } = await set({ [member]: value })
      expect([status, json.code]).toEqual([400, 'value_refused'])
      expect(json.errors).toMatchObject([{ pointer: `/${member}`, rule: 'ascii' }])
    }
    const { json } = await put(freshTxid(), chargeBody(key))
    const codeOf = async () =>
      parseBrCode((await get(`/cob/${json.txid}`)).json.pixCopiaECola).merchantName
    // As one may stand in the database from before.
    await pix.database.sql`update pix_receivers set name = 'Loja 日本' where key = ${key}`
    expect(await codeOf()).toBe('Loja')
    expect((await set({ name: 'Padaria “São José”', city: 'São Paulo' })).status).toBe(200)
    expect(await codeOf()).toBe('Padaria "Sao Jose"')
    expect((await set({ name: 'Padaria São José', city: 'São Paulo' })).status).toBe(200)
  })

  test('is made by POST with a txid of ours, once under an Idempotency-Key', async () => {
    const options = { token, body: chargeBody(key), headers: { 'Idempotency-Key': 'cob-1' } }
    const [first, second] = await Promise.all([
      pix.call('POST', '/pix/v2/cob', options),
      pix.call('POST', '/pix/v2/cob', options),
    ])
    const made = [first, second].filter(({ status }) => status === 201)
    expect(made.length).toBeGreaterThan(0)
    expect(made[0]?.json.txid).toMatch(/^[0-9a-f]{32}$/)
    const again = await pix.call('POST', '/pix/v2/cob', options)
    expect(again.json).toEqual(made[0]?.json)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  test('that is put again says the same, or is revised; what it was stays readable', async () => {
    const txid = freshTxid()
    const first = (await put(txid, chargeBody(key))).json
    expect(seen(await put(txid, chargeBody(key)))).toEqual({ status: 201, json: first })
    const dearer = await put(txid, chargeBody(key, { valor: { original: '38.00' } }))
    expect([dearer.status, dearer.json.revisao]).toEqual([201, 1])
    expect(dearer.json).toMatchObject({ valor: { original: '38.00' }, location: first.location })
    const patched = await patch(txid, { valor: { original: '39.00' }, solicitacaoPagador: 'Oi' })
    expect(patched.json).toMatchObject({
      revisao: 2,
      valor: { original: '39.00' },
      solicitacaoPagador: 'Oi',
      devedor: first.devedor,
    })
    expect((await get(`/cob/${txid}?revisao=0`)).json).toEqual(first)
    expect((await get(`/cob/${txid}?revisao=1`)).json).toEqual(dearer.json)
    expect((await get(`/cob/${txid}?revisao=2`)).json).toEqual(patched.json)
    for (const revisao of ['3', '-1', 'x', '99999999999999']) {
      expect(seen(await get(`/cob/${txid}?revisao=${revisao}`))).toEqual(
        problem('CobConsultaInvalida', 400, 'revisao'),
      )
    }
  })

  test('that comes many times at once is made once', async () => {
    const txid = freshTxid()
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, cents) =>
        put(txid, chargeBody(key, { valor: { original: `1.0${cents}` } })),
      ),
    )
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 201))
    expect(all.map(({ json }) => json.revisao).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    const [count] = await pix.sql`select count(*)::int as n from pix_locations l
      join pix_charges c on c.id = l.charge_id where c.txid = ${txid}`
    expect(count?.['n']).toBe(1)
  })

  test('that was removed is not changed any more', async () => {
    const txid = freshTxid()
    await put(txid, chargeBody(key))
    const status = 'REMOVIDA_PELO_USUARIO_RECEBEDOR'
    expect(seen(await patch(txid, { status, valor: { original: '1.00' } }))).toEqual(
      problem('CobOperacaoInvalida', 400, 'cob.status'),
    )
    expect((await patch(txid, { status })).json).toMatchObject({ status, revisao: 1 })
    for (const again of [patch(txid, { status }), put(txid, chargeBody(key))]) {
      expect(seen(await again)).toEqual(problem('CobOperacaoInvalida', 400, 'cob.status'))
    }
  })

  test('takes and passes over what is read-only or unknown', async () => {
    const txid = freshTxid()
    const more = { status: 'ATIVA', revisao: 7, txid: 'x', pixCopiaECola: 1, alheio: { a: [] } }
    const made = await put(txid, chargeBody(key, more))
    expect(made.json).toMatchObject({ revisao: 0, txid })
  })

  test('of another account is not there', async () => {
    const txid = freshTxid()
    await put(txid, chargeBody(key))
    expect(seen(await get(`/cob/${txid}`, foreign.token))).toEqual(problem('CobNaoEncontrado', 404))
    const changed = await pix.call('PATCH', `/pix/v2/cob/${txid}`, {
      token: foreign.token,
      body: { valor: { original: '0.01' } },
    })
    expect(changed.status).toBe(404)
    // The txid is free to another receiver, and the charges do not meet.
    const own = await put(txid, chargeBody(foreign.key), foreign.token)
    expect([own.status, own.json.chave]).toEqual([201, foreign.key])
    expect((await get(`/cob/${txid}`)).json.chave).toBe(key)
  })

  test('of the same receiver in another account is another charge', async () => {
    const twin = await pix.receiver('twin', '12345678000195')
    const txid = freshTxid()
    await put(txid, chargeBody(key))
    expect(seen(await put(txid, chargeBody(twin.key), twin.token))).toEqual(
      problem('CobOperacaoInvalida', 400, 'cob.txid'),
    )
  })
})

describe('violations', () => {
  const cases: Readonly<Record<string, readonly [object, ...string[]]>> = {
    'expiracao is zero': [{ calendario: { expiracao: 0 } }, 'cob.calendario.expiracao'],
    'expiracao is below zero': [{ calendario: { expiracao: -1 } }, 'cob.calendario.expiracao'],
    'expiracao is a text': [{ calendario: { expiracao: '60' } }, 'cob.calendario.expiracao'],
    'original is malformed': [{ valor: { original: '1,00' } }, 'cob.valor.original'],
    'original has one digit': [{ valor: { original: '1.0' } }, 'cob.valor.original'],
    'original is a number': [{ valor: { original: 1 } }, 'cob.valor.original'],
    'original has eleven digits': [{ valor: { original: '12345678901.00' } }, 'cob.valor.original'],
    'original is zero': [{ valor: { original: '0.00' } }, 'cob.valor.original'],
    'devedor with both': [
      { devedor: { cpf: '12345678909', cnpj: '12345678000195', nome: 'A' } },
      'cob.devedor',
    ],
    'devedor without name': [{ devedor: { cpf: '12345678909' } }, 'cob.devedor'],
    'devedor with a long name': [
      { devedor: { cpf: '12345678909', nome: 'a'.repeat(201) } },
      'cob.devedor',
    ],
    'chave is too long': [{ chave: 'a'.repeat(78) }, 'cob.chave'],
    'chave is unknown': [{ chave: crypto.randomUUID() }, 'cob.chave'],
    'chave is another account’s': [{ chave: foreign.key }, 'cob.chave'],
    solicitacaoPagador: [{ solicitacaoPagador: 'a'.repeat(141) }, 'cob.solicitacaoPagador'],
    infoAdicionais: [{ infoAdicionais: [{ nome: 'a' }] }, 'cob.infoAdicionais'],
    '51 infoAdicionais': [
      { infoAdicionais: Array(51).fill({ nome: 'a', valor: 'b' }) },
      'cob.infoAdicionais',
    ],
    'location that is not there': [{ loc: { id: 999_999_999 } }, 'cob.loc.id'],
    several: [
      { valor: { original: 'x' }, calendario: { expiracao: 'x' } },
      'cob.calendario.expiracao',
      'cob.valor.original',
    ],
  }
  test.each(Object.entries(cases))('%s', async (_, [more, ...propriedades]) => {
    const txid = freshTxid()
    const body = chargeBody(key, more)
    expect(seen(await put(txid, body))).toEqual(
      problem('CobOperacaoInvalida', 400, ...propriedades),
    )
    expect((await get(`/cob/${txid}`)).status).toBe(404)
    await put(txid, chargeBody(key))
    const before = (await get(`/cob/${txid}`)).json
    expect((await patch(txid, more)).json).toMatchObject(
      problem('CobOperacaoInvalida', 400, ...propriedades).json,
    )
    expect((await get(`/cob/${txid}`)).json).toEqual(before)
  })

  test('at the limits', async () => {
    const made = await put(freshTxid(), {
      ...chargeBody(key),
      calendario: { expiracao: 2_147_483_647 },
      valor: { original: '9999999999.99' },
      devedor: { cnpj: '12ABC34501DE35', nome: 'é'.repeat(200) },
      solicitacaoPagador: 'é'.repeat(140),
      infoAdicionais: Array(50).fill({ nome: 'a'.repeat(50), valor: 'b'.repeat(200) }),
    })
    expect(made.status).toBe(201)
    expect(made.json.valor.original).toBe('9999999999.99')
    const over = chargeBody(key, { calendario: { expiracao: 2_147_483_648 } })
    expect((await put(freshTxid(), over)).status).toBe(400)
  })

  test('an open amount may be zero', async () => {
    const valor = { original: '0.00', modalidadeAlteracao: 1 }
    expect((await put(freshTxid(), chargeBody(key, { valor }))).status).toBe(201)
  })

  test.each(['a'.repeat(25), 'a'.repeat(36), `${'a'.repeat(25)}-`])('txid %s', async (txid) => {
    expect(seen(await put(txid, chargeBody(key)))).toEqual(
      problem('CobOperacaoInvalida', 400, 'cob.txid'),
    )
    expect(seen(await get(`/cob/${txid}`))).toEqual(problem('CobConsultaInvalida', 400, 'cob.txid'))
  })

  test.each([
    ['no JSON', '{', 400],
    ['no object', '[]', 400],
    ['nothing', '', 400],
  ])('%s', async (_, body, status) => {
    const answered = await put(freshTxid(), body)
    expect(answered.status).toBe(status)
    expect(answered.json.type).toStartWith('https://pix.bcb.gov.br/api/v2/error/')
    expect(answered.headers.get('content-type')).toBe('application/problem+json')
  })

  test('without a token', async () => {
    const { status, json, headers } = await pix.call('GET', '/pix/v2/cob/x')
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(json.type).toEndWith('/AcessoNegado')
  })
})

describe('locations', () => {
  test('are made first, and show one charge at a time', async () => {
    const location = await newLocation()
    expect(location).toEqual({
      id: expect.any(Number),
      tipoCob: 'cob',
      criacao: expect.any(String),
      location: expect.any(String),
    })
    const loc = { id: location.id }
    const [one, other] = [freshTxid(), freshTxid()]
    expect((await put(one, chargeBody(key, { loc }))).json.location).toBe(location.location)
    expect((await get(`/loc/${location.id}`)).json).toEqual({ ...location, txid: one })
    expect(seen(await put(other, chargeBody(key, { loc })))).toEqual(
      problem('CobOperacaoInvalida', 400, 'cob.loc.id'),
    )
    const freed = await pix.call('DELETE', `/pix/v2/loc/${location.id}/txid`, { token })
    expect(seen(freed)).toEqual({ status: 200, json: location })
    const alone = (await get(`/cob/${one}`)).json
    expect([alone.status, alone.revisao, alone.location, alone.loc, alone.pixCopiaECola]).toEqual([
      'ATIVA',
      0,
      undefined,
      undefined,
      undefined,
    ])
    const taken = await put(other, chargeBody(key, { loc }))
    expect([taken.status, taken.json.location]).toEqual([201, location.location])
    // A charge that has none gets one, without a revision.
    expect((await put(one, chargeBody(key))).json).toMatchObject({ revisao: 0, loc: { txid: one } })
  })

  test('of another kind or account serve no charge', async () => {
    const { id } = await newLocation('cobv')
    const wrong = await put(freshTxid(), chargeBody(key, { loc: { id } }))
    expect(seen(wrong)).toEqual(problem('CobOperacaoInvalida', 400, 'cob.loc.id'))
    const own = await newLocation()
    const body = chargeBody(foreign.key, { loc: { id: own.id } })
    expect((await put(freshTxid(), body, foreign.token)).status).toBe(400)
    expect((await get(`/loc/${own.id}`, foreign.token)).status).toBe(404)
    const unlinked = await pix.call('DELETE', `/pix/v2/loc/${own.id}/txid`, {
      token: foreign.token,
    })
    expect(seen(unlinked)).toEqual(problem('PayloadLocationNaoEncontrado', 404))
    for (const id of ['x', '0', '99999999999999999999']) {
      expect((await get(`/loc/${id}`)).status).toBe(404)
    }
  })

  test.each([[{}], [{ tipoCob: 'rec' }], [{ tipoCob: 1 }], [[]]])('%j is no kind', async (body) => {
    expect(seen(await pix.call('POST', '/pix/v2/loc', { token, body }))).toEqual(
      problem('PayloadLocationOperacaoInvalida', 400, 'tipoCob'),
    )
  })
})

describe('lists', () => {
  const at = (day: number) => `2027-03-${String(day).padStart(2, '0')}T12:00:00.000Z`
  const march = 'inicio=2027-03-01T00:00:00-03:00&fim=2027-03-31T00:00:00Z'
  const lister = pix.receiver('lister')
  const made = (async () => {
    const { key: own, token: by } = await lister
    const txids: string[] = []
    for (let day = 1; day <= 5; day++) {
      clock = new Date(at(day))
      const txid = freshTxid()
      const devedor = { cpf: day === 2 ? '98765432100' : '12345678909', nome: 'A' }
      const valor = { original: '1.00' }
      const body = { calendario: {}, chave: own, valor, ...(day === 1 ? {} : { devedor }) }
      const { status, json } = await put(txid, body, by)
      if (status !== 201) throw new Error(JSON.stringify(json))
      if (day === 3) {
        await pix.call('DELETE', `/pix/v2/loc/${json.loc.id}/txid`, { token: by })
        await pix.call('PATCH', `/pix/v2/cob/${txid}`, {
          token: by,
          body: { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' },
        })
      }
      txids.push(txid)
    }
    clock = undefined
    return txids
  })()
  const list = async (more = '', what = 'cob') => {
    await made
    return get(`/${what}?${march}${more}`, (await lister).token)
  }

  test('go from inicio to fim, both included, in the order of their making', async () => {
    const txids = await made
    const { json } = await list()
    expect(json.cobs.map(({ txid }: Json) => txid)).toEqual(txids)
    expect(json.parametros).toEqual({
      inicio: '2027-03-01T03:00:00.000Z',
      fim: '2027-03-31T00:00:00.000Z',
      paginacao: {
        paginaAtual: 0,
        itensPorPagina: 100,
        quantidadeDePaginas: 1,
        quantidadeTotalDeItens: 5,
      },
    })
    const exact = await get(`/cob?inicio=${at(2)}&fim=${at(4)}`, (await lister).token)
    expect(exact.json.cobs.map(({ txid }: Json) => txid)).toEqual(txids.slice(1, 4))
    expect(exact.json.cobs[0]).toEqual((await get(`/cob/${txids[1]}`, (await lister).token)).json)
  })

  test('in pages', async () => {
    const txids = await made
    const pages = await Promise.all(
      [0, 1, 2, 3].map((page) => list(`&paginacao.itensPorPagina=2&paginacao.paginaAtual=${page}`)),
    )
    expect(pages.flatMap(({ json }) => json.cobs.map(({ txid }: Json) => txid))).toEqual(txids)
    expect(pages[3]?.json.parametros.paginacao).toEqual({
      paginaAtual: 3,
      itensPorPagina: 2,
      quantidadeDePaginas: 3,
      quantidadeTotalDeItens: 5,
    })
  })

  test.each([
    ['&cpf=98765432100', [1]],
    ['&cpf=12345678909', [2, 3, 4]],
    ['&cnpj=12345678000195', []],
    ['&status=ATIVA', [0, 1, 3, 4]],
    ['&status=REMOVIDA_PELO_USUARIO_RECEBEDOR', [2]],
    ['&locationPresente=false', [2]],
    ['&locationPresente=true&cpf=12345678909&status=ATIVA', [3, 4]],
  ] as const)('filtered by %s', async (more, places) => {
    const txids = await made
    const { json } = await list(more)
    expect(json.cobs.map(({ txid }: Json) => txid)).toEqual(places.map((place) => txids[place]))
    expect(json.parametros).toMatchObject(
      Object.fromEntries(
        [...new URLSearchParams(more)].map(([name, value]) => [
          name,
          name === 'locationPresente' ? value === 'true' : value,
        ]),
      ),
    )
    expect(json.parametros.paginacao.quantidadeTotalDeItens).toBe(places.length)
  })

  test('of locations', async () => {
    expect((await list('', 'loc')).json.loc).toHaveLength(5)
    expect((await list('&txIdPresente=false', 'loc')).json.loc).toHaveLength(1)
    expect((await list('&txIdPresente=true&tipoCob=cob', 'loc')).json.loc).toHaveLength(4)
    expect((await list('&tipoCob=cobv', 'loc')).json.loc).toEqual([])
  })

  test.each([
    ['&cpf=1', 'cpf'],
    ['&cpf=12345678909&cnpj=12345678000195', 'cpf'],
    ['&paginacao.paginaAtual=-1', 'paginacao.paginaAtual'],
    ['&paginacao.itensPorPagina=-1', 'paginacao.itensPorPagina'],
    ['&paginacao.itensPorPagina=0', 'paginacao.itensPorPagina'],
    ['&paginacao.itensPorPagina=1001', 'paginacao.itensPorPagina'],
    ['&locationPresente=sim', 'locationPresente'],
    ['&fim=2027-03-31T00:00:00Z', 'fim'],
  ])('refuse %s', async (more, propriedade) => {
    expect(seen(await list(more))).toEqual(problem('CobConsultaInvalida', 400, propriedade))
  })

  test.each([
    ['cob', 'status', 'REMOVIDA_PELO_PSP', 'CobConsultaInvalida'],
    ['cobv', 'status', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'CobVConsultaInvalida'],
    ['rec', 'status', 'APROVADA', 'RecConsultaInvalida'],
    ['cobr', 'status', 'EXPIRADA', 'CobRConsultaInvalida'],
    ['loc', 'tipoCob', 'cobv', 'PayloadLocationConsultaInvalida'],
  ])('%s refuses a %s that the standard does not name', async (path, name, known, type) => {
    for (const unknown of ['BLA', known.slice(1), `${known},${known}`, '']) {
      const { status, json } = await list(`&${name}=${unknown}`, path)
      expect([status, json.type]).toEqual([400, `https://pix.bcb.gov.br/api/v2/error/${type}`])
      expect(json.violacoes).toEqual([
        { razao: expect.stringContaining(known), propriedade: name, valor: unknown },
      ])
    }
    expect((await list(`&${name}=${known}`, path)).json.parametros[name]).toBe(known)
  })

  test('refuse a time that is none, or that ends before it begins', async () => {
    for (const [query, ...propriedades] of [
      ['', 'inicio', 'fim'],
      ['inicio=2027-01-01&fim=2027-03-31T00:00:00Z', 'inicio'],
      ['inicio=2027-03-02T00:00:00Z&fim=2027-03-01T23:59:59Z', 'fim'],
    ] as const) {
      expect(seen(await get(`/cob?${query}`))).toEqual(
        problem('CobConsultaInvalida', 400, ...propriedades),
      )
    }
  })

  test('show what is the account’s alone', async () => {
    await made
    expect((await get(`/cob?${march}`, foreign.token)).json.cobs).toEqual([])
    expect((await get(`/loc?${march}`, foreign.token)).json.loc).toEqual([])
  })

  test(`that hold more than ${itemsMax} are refused, and never cut`, async () => {
    const { key: own, token: by } = await pix.receiver('many')
    const fill = (from: number, to: number) => pix.sql`
      insert into pix_charges (id, account, tax_id, txid, key, original_cents, expires_seconds,
        content, created_at)
      select gen_random_uuid(), 'many', 'm', 'm' || n, ${own}, 100, 60, '{}',
        '2027-03-01T12:00:00Z'::timestamptz + n * interval '1 second'
      from generate_series(${from}::int, ${to}::int) n`
    await fill(1, itemsMax)
    const last = `&paginacao.itensPorPagina=1000&paginacao.paginaAtual=${itemsMax / 1000 - 1}`
    const whole = await get(`/cob?${march}${last}`, by)
    expect([whole.status, whole.json.cobs.length]).toEqual([200, 1000])
    expect(whole.json.parametros.paginacao.quantidadeTotalDeItens).toBe(itemsMax)
    await fill(itemsMax + 1, itemsMax + 1)
    expect(seen(await get(`/cob?${march}`, by))).toEqual(problem('CobConsultaInvalida', 400, 'fim'))
  })
})
