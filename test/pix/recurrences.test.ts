/** Recurrences of Pix Automático and their locations, as far as the receiver alone makes them. */
import { afterAll, describe, expect, test } from 'bun:test'
import { parseBrCode } from '#codecs/brcode'
import { chargeBody, freshTxid, host, type Json, startPix } from './support.ts'

let clock = new Date()
const pix = await startPix(() => clock)
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')
const other = await pix.receiver('bia', '98765432000198')
const cnpjs = ['12345678000195', '98765432000198'] as const
const duo = await pix.receiver('duo', cnpjs[0])
await pix.receiver('duo', cnpjs[1])
const person = await pix.receiver('cpf', '12345678909')
const lister = await pix.receiver('lista', '11222333000181')
// Tokens are of today, which is past the day of the recurrences; in London it is the next day.
clock = new Date('2026-03-02T01:30:00Z')
const today = '2026-03-01'

const call = (method: string, path: string, body?: unknown, as = token) =>
  pix.call(method, `/pix/v2${path}`, { token: as, ...(body === undefined ? {} : { body }) })
const bodyOf = (more: object = {}) => ({
  vinculo: {
    contrato: '63100862',
    devedor: { cpf: '45164632481', nome: 'Fulano de Tal' },
    objeto: 'Streaming de música',
  },
  calendario: { dataInicial: today, dataFinal: '2027-03-01', periodicidade: 'MENSAL' },
  valor: { valorRec: '35.00' },
  politicaRetentativa: 'NAO_PERMITE',
  ...more,
})
const made = async (more: object = {}, as = token): Promise<Json> => {
  const { status, json, text } = await call('POST', '/rec', bodyOf(more), as)
  if (status !== 201) throw new Error(text)
  return json
}
const location = async (as = token): Promise<Json> =>
  (await call('POST', '/locrec', undefined, as)).json
const violated = ({ status, json }: { status: number; json: Json }) => [
  status,
  json.type?.split('/').at(-1),
  ...(json.violacoes ?? []).map(({ propriedade }: Json) => propriedade),
]
const year = 'inicio=2026-01-01T00:00:00Z&fim=2026-12-31T00:00:00Z'
const payloadAt = async (address: string) => {
  const answer = await pix.call('GET', address.slice(host.length))
  const [, payload = ''] = answer.text.split('.')
  const isSigned = answer.headers.get('content-type') === 'application/jose'
  return {
    ...answer,
    payload: isSigned ? (JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json) : null,
  }
}

describe('a recurrence', () => {
  test.each([
    ['a name that XML has not', { cpf: '45164632481', nome: 'Fulano\ufffe' }],
    ['a CNPJ whose check digits are letters', { cnpj: '1234567800019A', nome: 'Fulano' }],
  ])('of a debtor with %s is refused: no message could say it', async (_, devedor) => {
    const vinculo = { contrato: '63100862', devedor }
    expect(violated(await call('POST', '/rec', bodyOf({ vinculo })))).toEqual([
      ...[400, 'RecOperacaoInvalida', 'rec.vinculo'],
    ])
  })

  test('is made, and shown with its location, code and payload', async () => {
    const loc = await location()
    const rec = await made({ loc: loc.id })
    expect(rec).toEqual({
      idRec: expect.stringMatching(/^RN1234567820260301[0-9A-Za-z]{11}$/),
      ...bodyOf(),
      atualizacao: [{ status: 'CRIADA', data: clock.toISOString() }],
      recebedor: { cnpj: '12345678000195', nome: 'Padaria São José' },
      status: 'CRIADA',
      loc: { ...loc, idRec: rec.idRec },
      ativacao: { tipoJornada: 'AGUARDANDO_DEFINICAO' },
    })
    const { dadosQR, ...shown } = (await call('GET', `/rec/${rec.idRec}`)).json
    expect([shown, dadosQR.jornada]).toEqual([rec, 'JORNADA_2'])
    const code = parseBrCode(dadosQR.pixCopiaECola).pix
    expect([code?.recurrenceUrl, code?.url]).toEqual([loc.location, undefined])
    const { payload, headers } = await payloadAt(loc.location)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(payload).toEqual({
      ...bodyOf(),
      idRec: rec.idRec,
      atualizacao: rec.atualizacao,
      recebedor: { ...rec.recebedor, ispbParticipante: '12345678' },
    })
  })

  test('that may be tried again says so in its id', async () => {
    const { idRec, politicaRetentativa } = await made({ politicaRetentativa: 'PERMITE_3R_7D' })
    expect([idRec.slice(0, 2), politicaRetentativa]).toEqual(['RR', 'PERMITE_3R_7D'])
  })

  test('is made once by one Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'rec-1' }
    const again = { token, body: bodyOf(), headers }
    const [one, two] = [
      await pix.call('POST', '/pix/v2/rec', again),
      await pix.call('POST', '/pix/v2/rec', again),
    ]
    expect([one.status, two.text]).toEqual([201, one.text])
    const before = clock
    clock = new Date('2026-03-03T01:30:00Z')
    const later = await pix.call('POST', '/pix/v2/rec', again)
    clock = before
    expect([later.status, later.text]).toEqual([201, one.text])
  })

  test.each<[object, string]>([
    [{ vinculo: { ...bodyOf().vinculo, contrato: 'x'.repeat(36) } }, 'rec.vinculo'],
    [{ vinculo: { contrato: '1', devedor: { nome: 'Sem número' } } }, 'rec.vinculo'],
    [
      { calendario: { dataInicial: '2026-02-28', periodicidade: 'ANUAL' } },
      'rec.calendario.dataInicial',
    ],
    [
      { calendario: { dataInicial: '2037-01-01', periodicidade: 'ANUAL' } },
      'rec.calendario.dataInicial',
    ],
    [
      { calendario: { dataInicial: '9999-12-31', periodicidade: 'ANUAL' } },
      'rec.calendario.dataInicial',
    ],
    [
      { calendario: { ...bodyOf().calendario, dataFinal: '2026-02-28' } },
      'rec.calendario.dataFinal',
    ],
    [
      { calendario: { ...bodyOf().calendario, periodicidade: 'DIARIA' } },
      'rec.calendario.periodicidade',
    ],
    [{ calendario: undefined }, 'rec.calendario'],
    [{ valor: 35 }, 'rec.valor'],
    [{ valor: { valorRec: '35,00' } }, 'rec.valor.valorRec'],
    [{ valor: { valorRec: '0.00' } }, 'rec.valor.valorRec'],
    [{ valor: { valorMinimoRecebedor: '1' } }, 'rec.valor.valorMinimoRecebedor'],
    [{ valor: { valorRec: '1.00', valorMinimoRecebedor: '1.00' } }, 'rec.valor'],
    [{ recebedor: { convenio: 'x'.repeat(61) } }, 'rec.recebedor'],
    [{ politicaRetentativa: 'SEMPRE' }, 'rec.politicaRetentativa'],
    [{ loc: 999_999 }, 'rec.loc'],
    [{ loc: { id: 1 } }, 'rec.loc'],
    [{ ativacao: { dadosJornada: { txid: 'curto' } } }, 'rec.ativacao'],
  ])('is refused with %j', async (more, propriedade) => {
    expect(violated(await call('POST', '/rec', bodyOf(more)))).toEqual([
      400,
      'RecOperacaoInvalida',
      propriedade,
    ])
  })

  test('is the first month’s longest text, and no amount is needed', async () => {
    const vinculo = { ...bodyOf().vinculo, contrato: 'x'.repeat(35), objeto: 'ç'.repeat(35) }
    expect(await made({ vinculo, valor: undefined })).toMatchObject({ vinculo })
    expect((await made({ valor: { valorMinimoRecebedor: '0.00' } })).valor).toEqual({
      valorMinimoRecebedor: '0.00',
    })
  })

  test('names its company where the account receives for several', async () => {
    const as = duo.token
    expect(violated(await call('POST', '/rec', bodyOf(), as)).at(-1)).toBe('rec.recebedor.convenio')
    for (const cnpj of cnpjs) {
      const { recebedor } = await made({ recebedor: { convenio: cnpj } }, as)
      expect([recebedor.cnpj, recebedor.convenio]).toEqual([cnpj, cnpj])
    }
    expect((await call('POST', '/rec', bodyOf(), person.token)).status).toBe(403)
  })
})

describe('a revision', () => {
  test('changes name, first day, location and first charge, and nothing else', async () => {
    const rec = await made()
    const loc = await location()
    const txid = freshTxid()
    const change = {
      loc: loc.id,
      vinculo: { devedor: { nome: 'Beltrano', cpf: '11111111111' } },
      calendario: { dataInicial: '2026-04-01', periodicidade: 'ANUAL' },
      ativacao: { dadosJornada: { txid } },
    }
    const { status, json } = await call('PATCH', `/rec/${rec.idRec}`, change)
    expect([status, json]).toEqual([
      200,
      {
        ...rec,
        vinculo: { ...rec.vinculo, devedor: { cpf: '45164632481', nome: 'Beltrano' } },
        calendario: { ...rec.calendario, dataInicial: '2026-04-01' },
        loc: { ...loc, idRec: rec.idRec },
        ativacao: { tipoJornada: 'AGUARDANDO_DEFINICAO', dadosJornada: { txid } },
      },
    ])
  })

  test('may not start before it was made, nor end before it starts', async () => {
    const { idRec } = await made()
    for (const [dataInicial, name] of [
      ['2026-02-28', 'dataInicial'],
      ['2027-03-02', 'dataFinal'],
    ]) {
      const answer = await call('PATCH', `/rec/${idRec}`, { calendario: { dataInicial } })
      expect(violated(answer).at(-1)).toBe(`rec.calendario.${name}`)
    }
    const endless = await made({ calendario: { ...bodyOf().calendario, dataFinal: undefined } })
    const far = { calendario: { dataInicial: '9999-12-31' } }
    expect(violated(await call('PATCH', `/rec/${endless.idRec}`, far))).toEqual([
      ...[400, 'RecOperacaoInvalida', 'rec.calendario.dataInicial'],
    ])
    const answer = await call('PATCH', `/rec/${idRec}`, { status: 'APROVADA' })
    expect(violated(answer)).toEqual([400, 'RecOperacaoInvalida', 'rec.status'])
  })

  test('that cancels is the last, and the payload tells nobody of it any more', async () => {
    const loc = await location()
    const { idRec } = await made({ loc: loc.id })
    const cancelled = (await call('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })).json
    expect([cancelled.status, cancelled.encerramento.cancelamento.codigo]).toEqual([
      ...['CANCELADA', 'SLCR'],
    ])
    expect(cancelled.atualizacao.map(({ status }: Json) => status)).toEqual(['CRIADA', 'CANCELADA'])
    expect(violated(await call('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' }))).toEqual([
      ...[400, 'RecOperacaoInvalida', 'rec.status'],
    ])
    expect((await call('GET', `/rec/${idRec}`)).json.dadosQR).toBeUndefined()
    expect(violated(await payloadAt(loc.location))).toEqual([
      ...[400, 'RecPayloadOperacaoInvalida', 'recUrlAccessToken'],
    ])
  })

  test('of what the payer has approved leaves location and first day alone', async () => {
    const { idRec } = await made()
    await pix.sql`update pix_recurrences set status = 'APROVADA' where id = ${idRec}`
    const { id: loc } = await location()
    for (const [change, propriedade] of [
      [{ loc }, 'rec.loc'],
      [{ calendario: { dataInicial: today } }, 'rec.calendario.dataInicial'],
    ] as const) {
      expect(violated(await call('PATCH', `/rec/${idRec}`, change)).at(-1)).toBe(propriedade)
    }
  })
})

describe('a composite code', () => {
  test('asks for an immediate charge, or for one with a due date', async () => {
    const { id: loc, location: address } = await location()
    const txid = freshTxid()
    const charge = (await call('PUT', `/cob/${txid}`, chargeBody(key))).json
    const { idRec } = await made({ loc, ativacao: { dadosJornada: { txid } } })
    const { dadosQR } = (await call('GET', `/rec/${idRec}?txid=${txid}`)).json
    const code = parseBrCode(dadosQR.pixCopiaECola).pix
    expect([dadosQR.jornada, code?.url, code?.recurrenceUrl]).toEqual([
      'JORNADA_3',
      charge.location,
      address,
    ])
    const { key: ownKey } = await pix.receiver('ana', undefined, {
      street: 'Rua 15',
      state: 'SP',
      postal_code: '70800100',
    })
    const due = freshTxid()
    const dueBody = { ...chargeBody(ownKey), calendario: { dataDeVencimento: '2026-04-01' } }
    const owed = (await call('PUT', `/cobv/${due}`, dueBody)).json
    const fourth = (await call('GET', `/rec/${idRec}?txid=${due}`)).json.dadosQR
    expect([fourth.jornada, parseBrCode(fourth.pixCopiaECola).pix?.url]).toEqual([
      'JORNADA_4',
      owed.location,
    ])
  })

  test('takes no other charge than the recurrence names', async () => {
    const { idRec } = await made()
    const txid = freshTxid()
    await call('PUT', `/cob/${txid}`, chargeBody(key))
    const foreign = freshTxid()
    await call('PUT', `/cob/${foreign}`, chargeBody(other.key), other.token)
    for (const asked of [txid, foreign, freshTxid(), 'é', 'x'.repeat(500)]) {
      expect(violated(await call('GET', `/rec/${idRec}?txid=${asked}`))).toEqual([
        ...[400, 'RecConsultaInvalida', 'txid'],
      ])
    }
  })

  test('takes no charge of another journey than the payer has authorised', async () => {
    const first = freshTxid()
    await call('PUT', `/cob/${first}`, chargeBody(key))
    const { idRec } = await made({ ativacao: { dadosJornada: { txid: first } } })
    const { key: ownKey } = await pix.receiver('ana', undefined, {
      street: 'Rua 15, 1200',
      state: 'SP',
      postal_code: '70800100',
    })
    const due = freshTxid()
    const dueBody = { ...chargeBody(ownKey), calendario: { dataDeVencimento: '2026-04-01' } }
    await call('PUT', `/cobv/${due}`, dueBody)
    for (const [journey, immediate, dueStatus] of [
      ['JORNADA_2', 400, 400],
      ['JORNADA_3', 200, 400],
      ['JORNADA_4', 400, 200],
    ] as const) {
      await pix.sql`update pix_recurrences set journey = ${journey} where id = ${idRec}`
      const asked = [first, due].map((txid) => call('GET', `/rec/${idRec}?txid=${txid}`))
      const answers = await Promise.all(asked)
      expect([journey, ...answers.map(({ status }) => status)]).toEqual([
        ...[journey, immediate, dueStatus],
      ])
    }
  })
})

describe('locations', () => {
  test('show one recurrence at a time, and are freed', async () => {
    const loc = await location()
    expect(loc).toEqual({
      id: expect.any(Number),
      tipo: 'rec',
      criacao: clock.toISOString(),
      location: expect.stringMatching(/^pix\.example\.com\/qr\/v2\/rec\/[0-9a-f]{32}$/),
    })
    const { idRec } = await made({ loc: loc.id })
    expect(violated(await call('POST', '/rec', bodyOf({ loc: loc.id }))).at(-1)).toBe('rec.loc')
    expect((await call('PATCH', `/rec/${idRec}`, { loc: loc.id })).status).toBe(200)
    expect((await call('GET', `/locrec/${loc.id}`)).json).toEqual({ ...loc, idRec })
    expect((await call('DELETE', `/locrec/${loc.id}/idRec`)).json).toEqual(loc)
    const freed = (await call('GET', `/rec/${idRec}`)).json
    expect([freed.status, freed.loc, freed.dadosQR]).toEqual(['CRIADA', undefined, undefined])
    expect(violated(await payloadAt(loc.location))).toEqual([404, 'RecPayloadNaoEncontrado'])
    expect((await made({ loc: loc.id })).loc.id).toBe(loc.id)
  })

  test('are taken by one of many that ask at once', async () => {
    const { id: loc } = await location()
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(() => call('POST', '/rec', bodyOf({ loc }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
  })

  test('and recurrences of another account are not there', async () => {
    const loc = await location()
    const { idRec } = await made({ loc: loc.id })
    const as = other.token
    for (const [method, path, type] of [
      ['GET', `/locrec/${loc.id}`, 'PayloadLocationRecNaoEncontrado'],
      ['DELETE', `/locrec/${loc.id}/idRec`, 'PayloadLocationRecNaoEncontrado'],
      ['GET', '/locrec/x', 'PayloadLocationRecNaoEncontrado'],
      ['GET', `/rec/${idRec}`, 'RecNaoEncontrada'],
      ['GET', '/rec/é', 'RecNaoEncontrada'],
    ] as const) {
      expect(violated(await call(method, path, undefined, as))).toEqual([404, type])
    }
    const patched = await call('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' }, as)
    expect(violated(patched)).toEqual([404, 'RecNaoEncontrada'])
    const taken = await call('POST', '/rec', bodyOf({ loc: loc.id }), as)
    expect(violated(taken).at(-1)).toBe('rec.loc')
  })
})

describe('lists', () => {
  test('filter by debtor, status, location and agreement', async () => {
    const as = lister.token
    const { id: loc } = await location(as)
    const { id: free } = await location(as)
    const one = await made({ loc, recebedor: { convenio: 'Master' } }, as)
    const devedor = { cnpj: '11444777000161', nome: 'Firma' }
    const two = await made({ vinculo: { contrato: '2', devedor } }, as)
    await call('PATCH', `/rec/${two.idRec}`, { status: 'CANCELADA' }, as)
    const listed = async (filter: string) => {
      const { json } = await call('GET', `/rec?${year}${filter}`, undefined, as)
      return [json.recs.map(({ idRec }: Json) => idRec), json.parametros]
    }
    const paginacao = { paginaAtual: 0, itensPorPagina: 100, quantidadeDePaginas: 1 }
    const both = await listed('')
    expect([new Set(both[0]), both[1].paginacao]).toEqual([
      new Set([one.idRec, two.idRec]),
      { ...paginacao, quantidadeTotalDeItens: 2 },
    ])
    for (const [filter, found, echo] of [
      ['&cpf=45164632481', one, { cpf: '45164632481' }],
      ['&cnpj=11444777000161', two, { cnpj: '11444777000161' }],
      ['&status=CANCELADA', two, { status: 'CANCELADA' }],
      ['&locationPresente=true', one, { locationPresente: true }],
      ['&locationPresente=false', two, { locationPresente: false }],
      ['&convenio=Master', one, { recebedor: { convenio: 'Master' } }],
      ['&status=CRIADA&locationPresente=true&cpf=45164632481', one, { status: 'CRIADA' }],
      ['&status=CANCELADA&cnpj=11444777000161', two, { status: 'CANCELADA' }],
    ] as const) {
      const [ids, parametros] = await listed(filter)
      expect([ids, parametros]).toEqual([[found.idRec], expect.objectContaining(echo)])
    }
    expect((await listed('&status=CANCELADA&convenio=Master'))[0]).toEqual([])
    const locations = async (filter: string) =>
      (await call('GET', `/locrec?${year}${filter}`, undefined, as)).json.loc.map(
        ({ id }: Json) => id,
      )
    expect([
      await locations(''),
      await locations('&idRecPresente=true'),
      await locations('&idRecPresente=false'),
      await locations('&convenio=Master'),
    ]).toEqual([[loc, free], [loc], [free], [loc]])
  })

  test('refuse what the standard has them refuse', async () => {
    for (const [query, propriedade] of [
      ['fim=2026-01-01T00:00:00Z', 'inicio'],
      ['inicio=2026-01-02T00:00:00Z&fim=2026-01-01T00:00:00Z', 'fim'],
      [`${year}&paginacao.paginaAtual=-1`, 'paginacao.paginaAtual'],
      [`${year}&paginacao.itensPorPagina=-1`, 'paginacao.itensPorPagina'],
      [`${year}&convenio=${'x'.repeat(61)}`, 'convenio'],
    ]) {
      for (const [path, type] of [
        ['rec', 'RecConsultaInvalida'],
        ['locrec', 'PayloadLocationRecConsultaInvalida'],
      ]) {
        const answer = await call('GET', `/${path}?${query}`)
        expect(violated(answer)).toEqual([400, type, propriedade])
      }
    }
    const both = `${year}&cpf=45164632481&cnpj=11444777000161`
    expect(violated(await call('GET', `/rec?${both}`)).at(-1)).toBe('cpf')
  })
})
