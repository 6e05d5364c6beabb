/** What we answer, judged by the central bank's own description, where it lies beside the checkout. */

import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { dayAt } from '#src/platform/runtime/index.ts'

import { runTool } from '../support/second-implementation.ts'
import { hasSharedData, sharedDataPath, skipReason } from '../support/shared-data.ts'
import { chargeBody, freshTxid, type Json, startPix } from './support.ts'

const noPeer = runTool(['python3', '-c', 'import jsonschema']).exitCode !== 0
const note = noPeer ? ' [skipped: no jsonschema for python3]' : skipReason
const isSkipped = !hasSharedData || noPeer
const file = sharedDataPath('pix-api/openapi.yaml')

type Operation = {
  readonly security?: readonly { readonly OAuth2?: readonly string[] }[]
  readonly responses: Readonly<Record<string, unknown>>
}

describe.skipIf(isSkipped)(`the official description${note}`, async () => {
  // The runner reads the tests of what it skips, too.
  if (isSkipped) return test('holds for our answers', () => {})
  const pix = await startPix()
  afterAll(() => pix.database.close())
  const document = Bun.YAML.parse(await Bun.file(file).text()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
    readonly components: {
      readonly examples: Readonly<Record<string, { readonly value: Json }>>
      readonly requestBodies: Readonly<Record<string, { readonly content: Json }>>
    }
  }
  const { components } = document

  /** Answers with the names of their schemas; the complaints of jsonschema. */
  const complaints = (answers: readonly (readonly [schema: string, value: Json])[]): Json => {
    const { stdout, stderr, exitCode } = Bun.spawnSync(
      ['python3', join(import.meta.dir, 'official.py')],
      { stdin: Buffer.from(JSON.stringify({ components, answers })) },
    )
    if (exitCode !== 0) throw new Error(stderr.toString())
    return JSON.parse(stdout.toString())
  }

  /** The examples of a request. */
  const bodiesOf = (request: string): readonly Json[] =>
    Object.values<{ $ref: string }>(
      components.requestBodies[request]?.content['application/json'].examples,
    ).map(({ $ref }) => components.examples[$ref.split('/').at(-1) ?? '']?.value)

  const recBody = (dataInicial: string) => ({
    vinculo: { contrato: '1', devedor: { cpf: '12345678909', nome: 'Francisco da Silva' } },
    calendario: { dataInicial, periodicidade: 'MENSAL' },
    valor: { valorRec: '35.00' },
    politicaRetentativa: 'PERMITE_3R_7D',
    ativacao: { dadosJornada: { txid: freshTxid() } },
  })

  /** What a payer's institution reads there. */
  const payloadAt = async (address: string): Promise<Json> => {
    const { text } = await pix.call('GET', address.slice(address.indexOf('/')))
    return JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString())
  }

  test('has every path, method and scope that we serve', () => {
    const served = pix.routes.filter(({ path }) => path.startsWith('/pix/v2/'))
    expect(served.length).toBeGreaterThanOrEqual(9)
    for (const { method, path, scope } of served) {
      const operation = document.paths[path.slice('/pix/v2'.length)]?.[method.toLowerCase()]
      expect([path, method, operation?.security?.[0]?.OAuth2]).toEqual([
        path,
        method,
        [scope.replace(':', '.')],
      ])
    }
  })

  test('has no other operation than those', () => {
    const served = new Set(
      pix.routes.map(({ method, path }) => `${method} ${path.replace(/^\/(?:pix|qr)\/v2/, '')}`),
    )
    const missing = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((name) => ['get', 'put', 'post', 'patch', 'delete'].includes(name))
        .map(
          (name) =>
            `${name.toUpperCase()} ${path.replace(/\{(?:pix|rec)UrlAccessToken\}/, '{token}')}`,
        )
        .filter((operation) => !served.has(operation)),
    )
    expect(missing).toEqual([])
  })

  const withCash = {
    original: '10.00',
    retirada: {
      troco: {
        valor: '0.00',
        modalidadeAlteracao: 1,
        modalidadeAgente: 'AGTEC',
        prestadorDoServicoDeSaque: '12345678',
      },
    },
  }

  test('has schemas that fit every answer', async () => {
    const address = { street: 'Rua 15', state: 'SP', postal_code: '70800100' }
    const { key, token } = await pix.receiver('ana', undefined, address)
    const call = async (method: string, path: string, body?: object) =>
      (await pix.call(method, `/pix/v2${path}`, { token, ...(body && { body }) })).json
    const txid = freshTxid()
    const days = 'inicio=2020-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z'
    const made = await call('PUT', `/cob/${txid}`, chargeBody(key))
    const dueTxid = freshTxid()
    const nextYear = `${new Date().getUTCFullYear() + 1}-12-31`
    const due = () =>
      call('PUT', `/cobv/${dueTxid}`, {
        ...chargeBody(key),
        calendario: { dataDeVencimento: nextYear },
      })
    /** One charge of it is made, and one denied. */
    const batch = async () => {
      const body = chargeBody(key)
      const cobsv = ['2020-01-01', nextYear].map((dataDeVencimento) => ({
        ...body,
        txid: freshTxid(),
        calendario: { dataDeVencimento },
      }))
      const put = { token, body: { descricao: 'Turma da manhã', cobsv } }
      await pix.call('PUT', '/pix/v2/lotecobv/7', put)
      return call('GET', '/lotecobv/7')
    }
    const webhook = async () => {
      const url = { webhookUrl: 'https://pix.example.com/api/webhook/' }
      await pix.call('PUT', `/pix/v2/webhook/${key}`, { token, body: url })
      return call('GET', `/webhook/${key}`)
    }
    const automatic = async (path: string) => {
      const url = { webhookUrl: `https://pix.example.com/api${path}/` }
      await pix.call('PUT', `/pix/v2${path}`, { token, body: url })
      return call('GET', path)
    }
    const inTenDays = dayAt(new Date(Date.now() + 10 * 86_400_000))
    const requested = await call('POST', '/rec', recBody(nextYear))
    const solicrec = await call('POST', '/solicrec', {
      idRec: requested.idRec,
      calendario: { dataExpiracaoSolicitacao: `${inTenDays}T12:00:00Z` },
      destinatario: { cpf: '12345678909', conta: '1', ispbParticipante: '91193552' },
    })
    const cobr = await call('POST', '/cobr', {
      idRec: requested.idRec,
      infoAdicional: 'Plano',
      valor: { original: '35.00' },
      calendario: { dataDeVencimento: nextYear },
      devedor: { cep: '89256-140', cidade: 'Uberlândia', uf: 'MG' },
      recebedor: { agencia: '9708', conta: '012682', tipoConta: 'CORRENTE' },
    })
    const place = await call('POST', '/locrec')
    const rec = await call('POST', '/rec', { ...recBody(nextYear), loc: place.id })
    const answers: readonly (readonly [string, Json])[] = [
      ['SolicRecCompleta', solicrec],
      ['SolicRecCompleta', await call('GET', `/solicrec/${solicrec.idSolicRec}`)],
      ['CobRGerada', cobr],
      ['CobRCompleta', await call('GET', `/cobr/${cobr.txid}`)],
      ['CobsRConsultadas', await call('GET', `/cobr?${days}&idRec=${requested.idRec}`)],
      ['CobRGerada', await call('PATCH', `/cobr/${cobr.txid}`, { status: 'CANCELADA' })],
      [
        'SolicRecCompleta',
        await call('PATCH', `/solicrec/${solicrec.idSolicRec}`, { status: 'CANCELADA' }),
      ],
      ['RecCompleta', await call('GET', `/rec/${requested.idRec}`)],
      ['PayloadLocationRecGerada', place],
      ['RecGerada', rec],
      ['RecCompleta', await call('GET', `/rec/${rec.idRec}`)],
      ['RecPayload', await payloadAt(rec.loc.location)],
      ['RecsConsultadas', await call('GET', `/rec?${days}`)],
      ['PayloadLocationRecCompleta', await call('GET', `/locrec/${place.id}`)],
      ['PayloadLocationRecConsultadas', await call('GET', `/locrec?${days}`)],
      ['RecGerada', await call('PATCH', `/rec/${rec.idRec}`, { status: 'CANCELADA' })],
      ['PayloadLocationRecCompleta', await call('DELETE', `/locrec/${place.id}/idRec`)],
      ['CobGerada', made],
      ['CobGerada', await call('POST', '/cob', { ...chargeBody(key), devedor: undefined })],
      ['CobGerada', await call('POST', '/cob', chargeBody(key, { valor: withCash }))],
      ['CobPayload', await payloadAt(made.loc.location)],
      ['CobGerada', await call('PATCH', `/cob/${txid}`, { valor: { original: '1.00' } })],
      ['CobCompleta', await call('GET', `/cob/${txid}`)],
      ['CobVGerada', await due()],
      ['CobVGerada', await call('PATCH', `/cobv/${dueTxid}`, { valor: { original: '1.00' } })],
      ['CobVCompleta', await call('GET', `/cobv/${dueTxid}`)],
      ['CobsVConsultadas', await call('GET', `/cobv?${days}`)],
      ['CobsConsultadas', await call('GET', `/cob?${days}`)],
      ['LoteCobVConsultado', await batch()],
      ['LotesCobVConsultados', await call('GET', `/lotecobv?${days}`)],
      ['PayloadLocation', await call('POST', '/loc', { tipoCob: 'cob' })],
      ['PayloadLocationCompleta', await call('GET', `/loc/${made.loc.id}`)],
      ['PayloadLocationConsultadas', await call('GET', `/loc?${days}`)],
      ['PayloadLocation', await call('DELETE', `/loc/${made.loc.id}/txid`)],
      ['PixConsultados', await call('GET', `/pix?${days}`)],
      ['WebhookCompleto', await webhook()],
      ['WebhookRecCompleto', await automatic('/webhookrec')],
      ['WebhookCobRCompleto', await automatic('/webhookcobr')],
      ['WebhooksConsultados', await call('GET', '/webhook')],
      ['Problema', await call('GET', '/cob?inicio=x')],
      ['Problema', await call('GET', `/cob/${freshTxid()}`)],
    ]
    expect(complaints(answers)).toEqual([])
    const { calendario, loc } = made
    const wrong: readonly (readonly [string, Json])[] = [
      ['CobGerada', { ...made, txid: 1 }],
      ['CobGerada', { ...made, valor: { original: '37.000' } }],
      ['CobGerada', { ...made, calendario: { ...calendario, criacao: '2026-03-02' } }],
      ['CobGerada', { ...made, loc: { ...loc, location: `${loc.location} ` } }],
    ]
    for (const one of wrong) expect([one, complaints([one]).length]).toEqual([one, 1])
  })

  /** What the institution of a payer says, as the worker of instant payments tells it. */
  const say = (kind: 'mandate' | 'charge', key: string, event: string, reason: string | null) =>
    pix.sql.begin((tx) => {
      const mandate = {
        reference: null,
        journey: 'AUT1',
        debtorTown: '3550308',
        debtorDocument: '15231470190',
        debtorIspb: '91193552',
        debtorAccount: '550689',
        debtorBranch: null,
      }
      const type = event === 'cancellation_requested' ? 'pain.011' : 'pain.012'
      const fact = { kind, key, type, event, requestId: null, reason, reconciliationId: null }
      return pix.recurrences?.told(
        tx,
        [kind === 'mandate' ? { ...fact, mandate } : fact],
        new Date(),
      )
    })

  const pay = async (endToEndId: string, txid: string): Promise<void> => {
    const payment = {
      endToEndId,
      txid,
      amountCents: 3_500n,
      localInstrument: 'AUTO',
      creditorDocument: '12345678000195',
      creditorKey: null,
      debtorDocument: '15231470190',
      text: null,
      withdrawal: null,
    }
    await pix.sql.begin(async (tx) => {
      await pix.receivables?.receive(tx, [payment], new Date())
      const end = { endToEndId, returnId: null, isSettled: true, reason: null }
      await pix.receivables?.end(tx, [end], new Date())
    })
  }

  test('has schemas that fit what becomes of a recurrence, and what its webhooks are told', async () => {
    const { token } = await pix.receiver('dora')
    const call = async (method: string, path: string, body?: object) =>
      (await pix.call(method, `/pix/v2${path}`, { token, ...(body && { body }) })).json
    for (const path of ['/webhookrec', '/webhookcobr']) {
      await call('PUT', path, { webhookUrl: 'https://pix.example.com/api/' })
    }
    const day = (days: number) => dayAt(new Date(Date.now() + days * 86_400_000))
    const asked = async (): Promise<{ readonly idRec: string; readonly idSolicRec: string }> => {
      const { idRec } = await call('POST', '/rec', recBody(day(0)))
      return call('POST', '/solicrec', {
        idRec,
        calendario: { dataExpiracaoSolicitacao: `${day(5)}T12:17:11.926Z` },
        destinatario: { cpf: '15231470190', conta: '550689', ispbParticipante: '91193552' },
      })
    }
    const charge = async (idRec: string, days: number) =>
      call('POST', '/cobr', {
        idRec,
        calendario: { dataDeVencimento: day(days) },
        valor: { original: '35.00' },
        recebedor: { agencia: '9708', conta: '012682', tipoConta: 'CORRENTE' },
      })
    const approved = async () => {
      const request = await asked()
      await say('mandate', request.idRec, 'confirmed', null)
      return request
    }
    const [{ idRec, idSolicRec }, refused] = [await approved(), await asked()]
    const unpaid = await charge(refused.idRec, 40)
    await say('mandate', refused.idRec, 'refused', 'AP13')
    const tried = await charge(idRec, 3)
    await say('charge', tried.tentativas[0].endToEndId, 'refused', 'AM02')
    const again = await call('POST', `/cobr/${tried.txid}/retentativa/${day(5)}`)
    await say('charge', again.tentativas[1].endToEndId, 'scheduled', null)
    await pay(again.tentativas[1].endToEndId, tried.txid)
    const paid = await call('GET', `/cobr/${tried.txid}`)
    expect([paid.status, paid.tentativas.length, paid.pix.length]).toEqual(['CONCLUIDA', 2, 1])
    const later = await charge(idRec, 40)
    const wrong = await charge((await approved()).idRec, 3)
    await say('charge', wrong.tentativas[0].endToEndId, 'refused', 'AM09')
    await say('mandate', idRec, 'cancellation_requested', 'SLDB')
    const shown = (charges: readonly Json[]) =>
      Promise.all(
        charges.map(
          async ({ txid }) => ['CobRCompleta', await call('GET', `/cobr/${txid}`)] as const,
        ),
      )
    const endings = (await shown([later, unpaid, wrong])).map(
      ([, { status, encerramento: end }]) => [status, (end.cancelamento ?? end.rejeicao).codigo],
    )
    expect(endings).toEqual([
      ['CANCELADA', 'CCLD'],
      ['CANCELADA', 'CCLD'],
      ['REJEITADA', 'AM09'],
    ])
    const told = await pix.sql<{ type: string; full: string }[]>`
      select type, data_full as "full" from webhook_events where account = 'dora' order by id`
    const notices = told.flatMap(({ type, full }) => {
      const { recs = [], cobsr = [] } = JSON.parse(full) as Record<string, readonly Json[]>
      expect([type, recs.length + cobsr.length]).toEqual([type, 1])
      return [
        ...recs.map((one) => ['RecNotification', one] as const),
        ...cobsr.map((one) => ['CobRNotification', one] as const),
      ]
    })
    expect(new Set(notices.map(([schema, { status }]) => `${schema} ${status}`))).toEqual(
      new Set([
        ...['RecNotification REJEITADA', 'RecNotification APROVADA', 'RecNotification CANCELADA'],
        ...['CobRNotification CRIADA', 'CobRNotification ATIVA', 'CobRNotification CONCLUIDA'],
        ...['CobRNotification CANCELADA', 'CobRNotification REJEITADA'],
      ]),
    )
    expect(
      complaints([
        ['SolicRecCompleta', await call('GET', `/solicrec/${idSolicRec}`)],
        ['SolicRecCompleta', await call('GET', `/solicrec/${refused.idSolicRec}`)],
        ['RecCompleta', await call('GET', `/rec/${idRec}`)],
        ['RecCompleta', await call('GET', `/rec/${refused.idRec}`)],
        ['CobRCompleta', again],
        ['CobRCompleta', paid],
        ...(await shown([later, unpaid, wrong])),
        ...notices,
      ]),
    ).toEqual([])
  })

  test('has examples of requests to payers and of charges of recurrences that we take', async () => {
    const { token } = await pix.receiver('eva')
    const soon = dayAt(new Date(Date.now() + 3 * 86_400_000))
    const made = async (path: string, body: object): Promise<Json> => {
      const answer = await pix.call('POST', `/pix/v2${path}`, { token, body })
      expect([path, body, answer.status]).toEqual([path, body, 201])
      return answer.json
    }
    for (const [path, bodies, calendario] of [
      ['/solicrec', bodiesOf('SolicRecBody'), { dataExpiracaoSolicitacao: `${soon}T12:00:00Z` }],
      ['/cobr', bodiesOf('CobRBody'), { dataDeVencimento: soon }],
    ] as const) {
      expect(bodies.length).toBeGreaterThan(0)
      for (const value of bodies) {
        const { idRec } = await made('/rec', { ...recBody(soon), valor: undefined })
        await made(path, { ...value, idRec, calendario })
      }
    }
  })

  test('has examples of charges that we take', async () => {
    const { key, token } = await pix.receiver('bia')
    const bodies = bodiesOf('CobBody')
    expect(bodies.length).toBeGreaterThan(0)
    for (const value of bodies) {
      // Its location is not there.
      const body = { ...value, chave: key, loc: undefined }
      const { status } = await pix.call('PUT', `/pix/v2/cob/${freshTxid()}`, { token, body })
      expect([value, status]).toEqual([value, 201])
    }
  })

  test('has examples of recurrences that we take, but for their days and locations', async () => {
    const { token } = await pix.receiver('caio')
    const dataInicial = `${new Date().getUTCFullYear() + 1}-01-01`
    const bodies = bodiesOf('RecBody')
    expect(bodies.length).toBeGreaterThan(0)
    for (const value of bodies) {
      const calendario = { ...value.calendario, dataInicial, dataFinal: undefined }
      const body = { ...value, calendario, loc: undefined }
      const made = await pix.call('POST', '/pix/v2/rec', { token, body })
      expect([value, made.status]).toEqual([value, 201])
      for (const revision of bodiesOf('RecBodyRevisada')) {
        const change = { ...revision, calendario: { dataInicial }, loc: undefined }
        const { status } = await pix.call('PATCH', `/pix/v2/rec/${made.json.idRec}`, {
          token,
          body: change,
        })
        expect([revision, status]).toEqual([revision, 200])
      }
    }
  })
})
