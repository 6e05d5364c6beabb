/** Pix Automático: payers are asked, authorise and are charged, as their institutions tell of it. */
import { afterAll, describe, expect, test } from 'bun:test'
import { chargeBody, freshTxid, type Json, startPix } from './support.ts'

let clock = new Date()
const pix = await startPix(() => clock)
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')
const other = await pix.receiver('bia', '98765432000198')
const owner = await pix.receiver('cora', '11222333000181', {
  ...{ account_number: '12682', branch: '97', account_type: 'CACC' },
})
// Tokens are of today.
clock = new Date('2026-03-02T12:00:00Z')

const call = (method: string, path: string, body?: unknown, as = token) =>
  pix.call(method, `/pix/v2${path}`, { token: as, ...(body === undefined ? {} : { body }) })
const right = async (method: string, path: string, body?: unknown): Promise<Json> => {
  const { status, json, text } = await call(method, path, body)
  if (status >= 300) throw new Error(text)
  return json
}
const recBody = (more: object = {}) => ({
  vinculo: { contrato: 'C-1', devedor: { cpf: '45164632481', nome: 'Fulano de Tal' } },
  calendario: { dataInicial: '2026-03-20', periodicidade: 'MENSAL' },
  valor: { valorRec: '35.00' },
  politicaRetentativa: 'PERMITE_3R_7D',
  ...more,
})
const recipient = { agencia: '2569', conta: '550689', cpf: '15231470190' }
const requestBody = (idRec: string, more: object = {}) => ({
  idRec,
  calendario: { dataExpiracaoSolicitacao: '2026-03-10T12:00:00Z' },
  destinatario: { ...recipient, ispbParticipante: '91193552' },
  ...more,
})
const violated = ({ status, json }: { status: number; json: Json }) => [
  ...[status, json.type?.split('/').at(-1)],
  ...(json.violacoes ?? []).map(({ propriedade }: Json) => propriedade),
]

/** What was sent since the last look. */
const sent = (): readonly Json[] => pix.drafts.splice(0)
const sentTypes = (): readonly string[] => sent().map(({ type }) => type)

let serial = 0
const datedId = (letters: string): string =>
  `${letters}9119355220260302${String(++serial).padStart(11, '0')}`
const payer = {
  ...{ debtorDocument: '15231470190', debtorIspb: '91193552', debtorAccount: '550689' },
  ...{ debtorBranch: '2569', debtorTown: '3106200' },
}
/** The payer's institution says something of a mandate or charge. */
const say = (fact: Json): Promise<readonly Json[]> =>
  pix.sql.begin(async (tx) => (await pix.recurrences?.told(tx, [fact], clock)) ?? [])
const ofMandate = (idRec: string, event: string, more: Json = {}): Json => {
  const { reference = null, journey = null, ...rest } = more
  return {
    ...{ kind: 'mandate', key: idRec, type: 'pain.012', event, requestId: datedId('IS') },
    ...{ reason: null, reconciliationId: null, mandate: { ...payer, reference, journey }, ...rest },
  }
}
const answer = (idRec: string, event: string, more?: Json) => say(ofMandate(idRec, event, more))
const ofCharge = (
  endToEndId: string,
  event: string,
  reason: string | null = null,
  more: Json = {},
) =>
  say({
    ...{ kind: 'charge', key: endToEndId, type: 'pain.014', event, requestId: null, reason },
    ...{ reconciliationId: null, ...more },
  })

const recOf = (idRec: string) => right('GET', `/rec/${idRec}`)
const statuses = ({ atualizacao }: Json): readonly string[] =>
  atualizacao.map(({ status }: Json) => status)
const requested = async (more?: object): Promise<{ idRec: string; idSolicRec: string }> => {
  const { idRec } = await right('POST', '/rec', recBody(more))
  const { idSolicRec } = await right('POST', '/solicrec', requestBody(idRec))
  return { idRec, idSolicRec }
}
const approved = async (more?: object): Promise<string> => {
  const { idRec, idSolicRec } = await requested(more)
  await answer(idRec, 'confirmed', { reference: idSolicRec })
  sent()
  return idRec
}

describe('a request to a payer', () => {
  test('is a pain.009, and authorises the recurrence once he accepts', async () => {
    sent()
    const { idRec } = await right('POST', '/rec', recBody())
    const { idSolicRec, ...shown } = await right('POST', '/solicrec', requestBody(idRec))
    expect({ idSolicRec, ...shown }).toMatchObject({
      ...{ idSolicRec: expect.stringMatching(/^SC1234567820260302[0-9A-Za-z]{11}$/), idRec },
      ...requestBody(idRec, {
        calendario: { dataExpiracaoSolicitacao: '2026-03-10T12:00:00.000Z' },
      }),
      ...{ status: 'CRIADA', recPayload: { idRec, recebedor: { ispbParticipante: '12345678' } } },
    })
    expect(sent()).toMatchObject([
      {
        type: 'pain.009',
        params: {
          mandates: [
            {
              ...{ mandate_id: idRec, request_id: idSolicRec, amount: 3_500 },
              ...{ frequency: 'MNTH', debtor: { ispb: '91193552', account_num: '550689' } },
              ...{ ultimate_debtor: { document: '45164632481' }, contract_number: 'C-1' },
            },
          ],
        },
      },
    ])
    const path = `/solicrec/${idSolicRec}`
    expect(await right('GET', path)).toMatchObject({ status: 'ENVIADA' })
    await answer(idRec, 'pending', { reference: idSolicRec })
    expect(await right('GET', path)).toMatchObject({ status: 'RECEBIDA' })
    expect(await answer(idRec, 'confirmed', { reference: idSolicRec })).toEqual([])
    expect(statuses(await right('GET', path))).toEqual(['CRIADA', 'ENVIADA', 'RECEBIDA', 'ACEITA'])
    expect(await recOf(idRec)).toMatchObject({
      ...{ status: 'APROVADA', ativacao: { tipoJornada: 'JORNADA_1' } },
      pagador: { cpf: '15231470190', ispbParticipante: '91193552', codMun: '3106200' },
    })
    // What comes again changes nothing.
    await answer(idRec, 'confirmed', { reference: idSolicRec })
    expect(statuses(await recOf(idRec))).toEqual(['CRIADA', 'APROVADA'])
  })

  test('is refused for good by the payer alone', async () => {
    const technical = await requested()
    await answer(technical.idRec, 'refused', { reason: 'AC06', reference: technical.idSolicRec })
    expect(await recOf(technical.idRec)).toMatchObject({ status: 'CRIADA' })
    expect(await right('GET', `/solicrec/${technical.idSolicRec}`)).toMatchObject({
      status: 'REJEITADA',
    })
    await right('POST', '/solicrec', requestBody(technical.idRec))
    const final = await requested()
    await answer(final.idRec, 'unnamed_refused', { reason: 'AP14' })
    expect(await recOf(final.idRec)).toMatchObject({
      ...{ status: 'REJEITADA', encerramento: { rejeicao: { codigo: 'AP14' } } },
    })
  })

  test('that the central bank refuses is rejected, and another may be made', async () => {
    const { idRec, idSolicRec } = await requested()
    const fact = {
      kind: 'mandate',
      key: idRec,
      type: 'pain.009',
      event: 'refused',
      reconciliationId: null,
    }
    await say({ ...fact, requestId: null, reason: 'ED05' })
    expect(await right('GET', `/solicrec/${idSolicRec}`)).toMatchObject({ status: 'REJEITADA' })
    await right('POST', '/solicrec', requestBody(idRec))
  })

  test('is taken back by a pain.011, until the payer has answered', async () => {
    const { idRec, idSolicRec } = await requested()
    sent()
    const { status, json } = await call('PATCH', `/solicrec/${idSolicRec}`, { status: 'CANCELADA' })
    expect([status, json.status]).toEqual([201, 'CANCELADA'])
    expect(sent()).toMatchObject([{ type: 'pain.011', params: { reason: 'ERSL' } }])
    const again = await call('PATCH', `/solicrec/${idSolicRec}`, { status: 'CANCELADA' })
    expect(violated(again)).toEqual([400, 'SolicRecOperacaoInvalida', 'solicrec.status'])
    // Who authorises it all the same is told that it is too late.
    expect(await answer(idRec, 'confirmed', { reference: idSolicRec })).toMatchObject([
      { type: 'pain.012', params: { reason: 'AP07' } },
    ])
    expect(await recOf(idRec)).toMatchObject({ status: 'CRIADA' })
  })

  test('is accepted in time alone, also where nobody has noted that it is over', async () => {
    const [late, early, lateRefused] = [await requested(), await requested(), await requested()]
    const confirm = ({ idRec, idSolicRec }: typeof late) =>
      answer(idRec, 'confirmed', { reference: idSolicRec })
    await at('2026-03-10T12:00:00.000Z', () => confirm(early))
    expect(await recOf(early.idRec)).toMatchObject({ status: 'APROVADA' })
    expect(await at('2026-03-10T12:00:00.001Z', () => confirm(late))).toMatchObject([
      { type: 'pain.012', params: { reason: 'AP07' } },
    ])
    await at('2026-03-10T12:00:00.001Z', () =>
      answer(lateRefused.idRec, 'refused', { reference: lateRefused.idSolicRec, reason: 'AP13' }),
    )
    for (const { idRec } of [late, lateRefused]) {
      expect(await recOf(idRec)).toMatchObject({ status: 'CRIADA' })
    }
  })

  test('is open for thirty days of São Paulo at most', async () => {
    const { idRec } = await right('POST', '/rec', recBody())
    // In London it is the day before, by an hour.
    const until = (dataExpiracaoSolicitacao: string) =>
      at('2026-12-15T02:59:59Z', () =>
        call('POST', '/solicrec', requestBody(idRec, { calendario: { dataExpiracaoSolicitacao } })),
      )
    expect(violated(await until('2027-01-14T03:00:00Z'))).toEqual([
      ...[400, 'SolicRecOperacaoInvalida', 'solicrec.calendario.dataExpiracaoSolicitacao'],
    ])
    expect((await until('2027-01-14T02:59:59Z')).status).toBe(201)
  })

  test('expires, and another may be made', async () => {
    const { idRec, idSolicRec } = await requested()
    const before = clock
    clock = new Date('2026-03-10T12:00:01Z')
    expect(await pix.sweep()).toBeGreaterThan(0)
    expect(await right('GET', `/solicrec/${idSolicRec}`)).toMatchObject({ status: 'EXPIRADA' })
    clock = before
    await right('POST', '/solicrec', requestBody(idRec))
  })

  test.each<[string, (idRec: string) => object, string]>([
    ['no idRec', () => ({ idRec: undefined }), 'solicrec.idRec'],
    ['no calendar', () => ({ calendario: {} }), 'solicrec.calendario'],
    [
      'past its end',
      () => ({ calendario: { dataExpiracaoSolicitacao: '2026-03-02T11:59:59Z' } }),
      'solicrec.calendario.dataExpiracaoSolicitacao',
    ],
    ['no account', () => ({ destinatario: { cpf: '15231470190' } }), 'solicrec.destinatario'],
    [
      'two persons',
      () => ({
        destinatario: { ...recipient, cnpj: '12345678000195', ispbParticipante: '91193552' },
      }),
      'solicrec.destinatario',
    ],
    [
      'our own institution',
      () => ({ destinatario: { ...recipient, ispbParticipante: '12345678' } }),
      'solicrec.destinatario',
    ],
  ])('with %s is refused', async (_, more, propriedade) => {
    const { idRec } = await right('POST', '/rec', recBody())
    const refused = await call('POST', '/solicrec', requestBody(idRec, more(idRec)))
    expect(violated(refused)).toEqual([400, 'SolicRecOperacaoInvalida', propriedade])
  })

  test('is one at a time, of recurrences that wait, and nobody else\u2019s', async () => {
    const { idRec, idSolicRec } = await requested()
    const second = await call('POST', '/solicrec', requestBody(idRec))
    expect(violated(second)).toEqual([400, 'SolicRecOperacaoInvalida', 'solicrec.idRec'])
    const done = await approved()
    const late = await call('POST', '/solicrec', requestBody(done))
    expect(violated(late)).toEqual([400, 'SolicRecOperacaoInvalida', 'solicrec.idRec'])
    const path = `/solicrec/${idSolicRec}`
    expect((await call('GET', path, undefined, other.token)).status).toBe(404)
    expect((await call('PATCH', path, { status: 'CANCELADA' }, other.token)).status).toBe(404)
    expect((await call('POST', '/solicrec', requestBody(idRec), other.token)).status).toBe(404)
  })
})

describe('a payer who reads a code', () => {
  test.each([
    ['AUT2', 'JORNADA_2'],
    ['AUT4', 'JORNADA_4'],
  ])('by %s is confirmed at once', async (journey, tipoJornada) => {
    const { idRec } = await right('POST', '/rec', recBody())
    expect(await answer(idRec, 'pending', { journey })).toMatchObject([
      { type: 'pain.012', params: { status: 'CFDB', mandate_id: idRec } },
    ])
    expect(await recOf(idRec)).toMatchObject({ status: 'APROVADA', ativacao: { tipoJornada } })
  })

  test('and was asked besides: the request is taken back', async () => {
    const { idRec, idSolicRec } = await requested()
    const drafts = await answer(idRec, 'pending', { journey: 'AUT2' })
    expect(drafts.map(({ type, params }) => `${type} ${params.status ?? params.reason}`)).toEqual([
      ...['pain.012 CFDB', 'pain.011 PCFD'],
    ])
    expect(await right('GET', `/solicrec/${idSolicRec}`)).toMatchObject({ status: 'CANCELADA' })
  })

  test('by AUT3 is confirmed once the first charge is paid', async () => {
    const txid = freshTxid()
    const { idRec } = await right('POST', '/rec', recBody({ ativacao: { dadosJornada: { txid } } }))
    sent()
    expect(await answer(idRec, 'pending', { journey: 'AUT3' })).toEqual([])
    expect(await recOf(idRec)).toMatchObject({ status: 'CRIADA' })
    await pix.sweep()
    expect(sentTypes()).toEqual([])
    const charge = chargeBody(key, { valor: { original: '10.00' } })
    await right('PUT', `/cob/${txid}`, charge)
    await pix.sql`update pix_charges set status = 'CONCLUIDA' where txid = ${txid}`
    await pix.sweep()
    expect(sent()).toMatchObject([{ type: 'pain.012', params: { status: 'CFDB' } }])
    expect(await recOf(idRec)).toMatchObject({
      ...{ status: 'APROVADA', ativacao: { tipoJornada: 'JORNADA_3', dadosJornada: { txid } } },
    })
  })

  test('by AUT3, and has paid, does not wait for the many who have not', async () => {
    const txid = freshTxid()
    const { idRec } = await right('POST', '/rec', recBody({ ativacao: { dadosJornada: { txid } } }))
    await answer(idRec, 'pending', { journey: 'AUT3' })
    await pix.sql`
      insert into pix_recurrences (id, account, tax_id, receiver_name, status, debtor_tax_id, terms,
        history, payer, journey, created_at)
      select 'A' || n, account, tax_id, receiver_name, status, debtor_tax_id,
        replace(terms, ${txid}, 'unpaid'), history, payer, journey, created_at
      from pix_recurrences, generate_series(1, 201) n where id = ${idRec}`
    await right('PUT', `/cob/${txid}`, chargeBody(key))
    await pix.sql`update pix_charges set status = 'CONCLUIDA' where txid = ${txid}`
    await pix.sweep()
    expect(await recOf(idRec)).toMatchObject({ status: 'APROVADA' })
    await pix.sql`delete from pix_recurrences where id like 'A%'`
  })

  test('by AUT3, and does not pay within the hour, is refused', async () => {
    const body = recBody({ ativacao: { dadosJornada: { txid: freshTxid() } } })
    const { idRec } = await right('POST', '/rec', body)
    await answer(idRec, 'pending', { journey: 'AUT3' })
    sent()
    await at('2026-03-02T12:59:59Z', pix.sweep)
    expect(sentTypes()).toEqual([])
    await at('2026-03-02T13:00:00Z', pix.sweep)
    expect(sent()).toMatchObject([{ type: 'pain.012', params: { reason: 'AP08' } }])
    await at('2026-03-02T14:00:00Z', pix.sweep)
    expect(sentTypes()).toEqual([])
  })

  test('whose data could not be said back changes nothing', async () => {
    const { idRec } = await right('POST', '/rec', recBody())
    const hostile = ofMandate(idRec, 'pending', { journey: 'AUT2' })
    hostile.mandate.debtorAccount = 'x<&>\u0000'
    expect(await say(hostile)).toEqual([])
    expect(await recOf(idRec)).toMatchObject({ status: 'CRIADA' })
    expect(await answer('RN9999999920260302NOBODY00000', 'pending', { journey: 'AUT2' })).toEqual(
      [],
    )
  })
})

describe('an institution that is not the payer’s', () => {
  /** As another participant would say it of its own customer. */
  const foreign = (idRec: string, event: string, more?: Json): Promise<readonly Json[]> => {
    const fact = ofMandate(idRec, event, more)
    return say({ ...fact, mandate: { ...fact.mandate, debtorIspb: '87654321' } })
  }

  test('neither receives, nor authorises, nor refuses what another was asked for', async () => {
    const { idRec, idSolicRec } = await requested()
    await foreign(idRec, 'pending', { reference: idSolicRec })
    expect(await foreign(idRec, 'confirmed', { reference: idSolicRec })).toMatchObject([
      { type: 'pain.012', params: { reason: 'AP11' } },
    ])
    const ofAnother = ofMandate(idRec, 'confirmed', { reference: idSolicRec })
    ofAnother.mandate.debtorDocument = '45164632481'
    expect(await say(ofAnother)).toMatchObject([{ params: { reason: 'AP02' } }])
    await foreign(idRec, 'refused', { reference: idSolicRec, reason: 'AP13' })
    await foreign(idRec, 'unnamed_refused', { reason: 'AP13' })
    expect(await right('GET', `/solicrec/${idSolicRec}`)).toMatchObject({ status: 'ENVIADA' })
    expect(await recOf(idRec)).toMatchObject({ status: 'CRIADA' })
  })

  test('ends nothing, before it is authorised or after', async () => {
    const asked = await requested()
    const waiting = (await right('POST', '/rec', recBody())).idRec
    const done = await approved()
    const end = { type: 'pain.011', reason: 'SLDB', requestId: datedId('IC') }
    for (const [idRec, reason] of [
      [asked.idRec, 'AP11'],
      [waiting, 'MD01'],
      [done, 'AP11'],
    ]) {
      expect(await foreign(idRec, 'cancellation_requested', end)).toMatchObject([
        { type: 'pain.012', params: { reason } },
      ])
    }
    expect(await recOf(asked.idRec)).toMatchObject({ status: 'CRIADA' })
    expect(await recOf(waiting)).toMatchObject({ status: 'CRIADA' })
    expect(await recOf(done)).toMatchObject({ status: 'APROVADA' })
  })

  test('takes the payer who reads the code with it', async () => {
    const { idRec } = await requested()
    await foreign(idRec, 'pending', { journey: 'AUT2' })
    expect(await recOf(idRec)).toMatchObject({
      ...{ status: 'APROVADA', pagador: { ispbParticipante: '87654321' } },
    })
  })
})

describe('a recurrence that nobody has authorised', () => {
  test('expires after its last day, with its request and its charges', async () => {
    const calendario = {
      dataInicial: '2026-03-20',
      dataFinal: '2026-03-20',
      periodicidade: 'ANUAL',
    }
    const { idRec } = await right('POST', '/rec', recBody({ calendario }))
    const late = { calendario: { dataExpiracaoSolicitacao: '2026-03-30T12:00:00Z' } }
    const { idSolicRec } = await right('POST', '/solicrec', requestBody(idRec, late))
    const { txid } = await right('POST', '/cobr', cobrBody(idRec))
    const agreed = await approved({ calendario })
    await at('2026-03-21T02:59:59Z', pix.sweep)
    expect(await recOf(idRec)).toMatchObject({ status: 'CRIADA' })
    await at('2026-03-21T03:00:00Z', pix.sweep)
    expect(statuses(await recOf(idRec))).toEqual(['CRIADA', 'EXPIRADA'])
    expect(await right('GET', `/solicrec/${idSolicRec}`)).toMatchObject({ status: 'EXPIRADA' })
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      ...{ status: 'CANCELADA', encerramento: { cancelamento: { solicitante: 'PSP_RECEBEDOR' } } },
    })
    expect(await recOf(agreed)).toMatchObject({ status: 'APROVADA' })
    expect(await answer(idRec, 'pending', { journey: 'AUT2' })).toEqual([])
    expect(await recOf(idRec)).toMatchObject({ status: 'EXPIRADA' })
  })
})

describe('an end', () => {
  test('that the payer\u2019s institution tells is answered, and ends what is charged', async () => {
    const idRec = await approved()
    const { txid } = await right('POST', '/cobr', cobrBody(idRec))
    const [draft, ...more] = await answer(idRec, 'cancellation_requested', {
      ...{ type: 'pain.011', reason: 'SLDB', requestId: datedId('IC') },
    })
    expect([draft?.type, draft?.params.status, more]).toEqual(['pain.012', 'CCLD', []])
    expect(await recOf(idRec)).toMatchObject({
      status: 'CANCELADA',
      encerramento: { cancelamento: { solicitante: 'USUARIO_PAGADOR', codigo: 'SLDB' } },
    })
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'CANCELADA' })
  })

  test('that the receiver wants is told to the payer\u2019s institution', async () => {
    const idRec = await approved()
    const cancelled = await right('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })
    expect(cancelled).toMatchObject({ encerramento: { cancelamento: { codigo: 'SLCR' } } })
    expect(sent()).toMatchObject([
      { type: 'pain.011', params: { reason: 'SLCR', debtor: { document: '15231470190' } } },
    ])
    const unasked = await right('POST', '/rec', recBody())
    await right('PATCH', `/rec/${unasked.idRec}`, { status: 'CANCELADA' })
    expect(sentTypes()).toEqual([])
  })
})

const cobrBody = (idRec: string, more: object = {}) => ({
  idRec,
  calendario: { dataDeVencimento: '2026-03-20' },
  valor: { original: '35.00' },
  recebedor: { agencia: '9708', conta: '012682', tipoConta: 'CORRENTE' },
  ...more,
})
const at = async <T>(moment: string, work: () => Promise<T>): Promise<T> => {
  const before = clock
  clock = new Date(moment)
  try {
    return await work()
  } finally {
    clock = before
  }
}
/** A charge that the payer's institution has scheduled. */
const scheduledCharge = async (idRec: string) => {
  const { txid } = await right('POST', '/cobr', cobrBody(idRec))
  await at('2026-03-10T03:00:00Z', pix.sweep)
  const { tentativas } = await right('GET', `/cobr/${txid}`)
  const endToEndId: string = tentativas[0].endToEndId
  await ofCharge(endToEndId, 'scheduled')
  return { txid, endToEndId }
}
const pay = (endToEndId: string, cents = 3_500n) =>
  pix.sql.begin(async (tx) => {
    const payment = {
      ...{ endToEndId, txid: null, amountCents: cents, localInstrument: 'AUTO' },
      ...{ creditorDocument: '12345678000195', creditorKey: null, debtorDocument: '15231470190' },
      ...{ text: null, withdrawal: null },
    }
    return (await pix.receivables?.receive(tx, [payment], clock))?.get(endToEndId) ?? 'accepted'
  })
const settle = (endToEndId: string) =>
  pix.sql.begin(async (tx) => {
    const end = { endToEndId, returnId: null, isSettled: true, reason: null }
    await pix.receivables?.end(tx, [end], clock)
  })

describe('a charge of a recurrence', () => {
  test('is made, scheduled ten days before its day, and paid once', async () => {
    const idRec = await approved()
    const made = await right('POST', '/cobr', cobrBody(idRec, { infoAdicional: 'Março' }))
    expect(made).toEqual({
      ...{ idRec, txid: expect.stringMatching(/^[0-9a-f]{32}$/), status: 'CRIADA' },
      atualizacao: [{ status: 'CRIADA', data: clock.toISOString() }],
      ...{ infoAdicional: 'Março', valor: { original: '35.00' } },
      calendario: { criacao: '2026-03-02', dataDeVencimento: '2026-03-20' },
      ...{ ajusteDiaUtil: true, politicaRetentativa: 'PERMITE_3R_7D' },
      recebedor: {
        ...{ cnpj: '12345678000195', nome: 'Padaria São José' },
        ...{ agencia: '9708', conta: '012682', tipoConta: 'CORRENTE' },
      },
    })
    expect(sentTypes()).toEqual([])
    await at('2026-03-10T02:59:59Z', pix.sweep)
    expect(sentTypes()).toEqual([])
    await at('2026-03-10T03:00:00Z', pix.sweep)
    const [draft] = sent()
    const { tentativas } = await right('GET', `/cobr/${made.txid}`)
    expect(tentativas).toMatchObject([
      { tipo: 'AGND', status: 'SOLICITADA', dataLiquidacao: '2026-03-20' },
    ])
    const endToEndId = tentativas[0].endToEndId
    expect(draft).toMatchObject({
      type: 'PAIN013',
      params: {
        charges: [
          {
            ...{ reconciliation_id: made.txid, end_to_end_id: endToEndId, amount: 3_500 },
            ...{ mandate_id: idRec, purpose: 'AGND', due_date: '2026-03-20' },
            execution_date_time: '2026-03-20T03:00:00.000Z',
            creditor: { account_num: '012682', account_type: 'CACC' },
          },
        ],
      },
    })
    await ofCharge(endToEndId, 'scheduled')
    expect(await right('GET', `/cobr/${made.txid}`)).toMatchObject({
      ...{ status: 'ATIVA', tentativas: [{ status: 'AGENDADA' }] },
    })
    expect([await pay(endToEndId, 3_499n)]).toEqual(['BE17'])
    const paid = await approvedAndScheduled()
    expect(await pay(paid.endToEndId)).toBe('accepted')
    await settle(paid.endToEndId)
    expect(await right('GET', `/cobr/${paid.txid}`)).toMatchObject({
      ...{ status: 'CONCLUIDA', tentativas: [{ status: 'PAGA' }] },
      pix: [{ endToEndId: paid.endToEndId, valor: '35.00' }],
    })
    await settle(paid.endToEndId)
    expect(statuses(await right('GET', `/cobr/${paid.txid}`))).toEqual([
      ...['CRIADA', 'ATIVA', 'CONCLUIDA'],
    ])
  })

  const approvedAndScheduled = async () => scheduledCharge(await approved())

  test('waits for a payer who has not authorised it', async () => {
    const { idRec, idSolicRec } = await requested()
    sent()
    const { txid } = await right('POST', '/cobr', cobrBody(idRec))
    await at('2026-03-11T12:00:00Z', pix.sweep)
    expect(sentTypes()).toEqual([])
    const live = await requested()
    sent()
    await right('POST', '/cobr', cobrBody(live.idRec))
    await at('2026-03-09T12:00:00Z', () =>
      answer(live.idRec, 'confirmed', { reference: live.idSolicRec }),
    )
    await at('2026-03-11T12:00:00Z', pix.sweep)
    expect(sentTypes()).toEqual(['PAIN013'])
    // The request expired meanwhile.
    expect(await right('GET', `/solicrec/${idSolicRec}`)).toMatchObject({ status: 'EXPIRADA' })
    await at('2026-03-21T05:00:00Z', pix.sweep)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'EXPIRADA' })
  })

  test('is cancelled before its day, and takes no payment then', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    sent()
    const cancelled = await right('PATCH', `/cobr/${txid}`, { status: 'CANCELADA' })
    expect(cancelled).toMatchObject({
      ...{ status: 'CANCELADA', tentativas: [{ status: 'CANCELADA' }] },
      encerramento: { cancelamento: { solicitante: 'USUARIO_RECEBEDOR', codigo: 'SLCR' } },
    })
    expect(sent()).toMatchObject([
      { type: 'CAMT055', params: { original_end_to_end_id: endToEndId, processing_type: 'DHSR' } },
    ])
    expect(await pay(endToEndId)).toBe('CN01')
    const late = await approvedAndScheduled()
    const refused = await at('2026-03-20T03:00:00Z', () =>
      call('PATCH', `/cobr/${late.txid}`, { status: 'CANCELADA' }),
    )
    expect(violated(refused)).toEqual([400, 'CobROperacaoInvalida', 'cobr.status'])
  })

  test('is tried again three times in seven days', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    const retry = (day: string, moment: string) =>
      at(moment, () => call('POST', `/cobr/${txid}/retentativa/${day}`))
    const open = await retry('2026-03-22', '2026-03-20T12:00:00Z')
    expect(violated(open)).toEqual([400, 'CobROperacaoInvalida', 'cobr.tentativas'])
    await at('2026-03-20T12:00:00Z', () => ofCharge(endToEndId, 'refused', 'AM02'))
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      ...{ status: 'ATIVA', tentativas: [{ status: 'REJEITADA', rejeicao: { codigo: 'AM02' } }] },
    })
    sent()
    for (const [day, now] of [
      ['2026-03-22', '2026-03-21T12:00:00Z'],
      ['2026-03-24', '2026-03-23T12:00:00Z'],
      ['2026-03-26', '2026-03-25T12:00:00Z'],
    ] as const) {
      const { status, json } = await retry(day, now)
      expect([status, json.tentativas.at(-1).tipo]).toEqual([201, 'NTAG'])
      expect(sent()).toMatchObject([{ params: { charges: [{ due_date: day, purpose: 'NTAG' }] } }])
    }
    const fourth = await retry('2026-03-27', '2026-03-26T12:00:00Z')
    expect(violated(fourth)).toEqual([400, 'CobROperacaoInvalida', 'cobr.tentativas'])
    const over = await retry('2026-03-27', '2026-03-27T12:00:00Z')
    expect(violated(over)).toEqual([400, 'CobROperacaoInvalida', 'data'])
    await at('2026-03-28T05:00:00Z', pix.sweep)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'EXPIRADA' })
    expect(await pay(endToEndId)).toBe('UPAY')
  })

  test('is taken back until 22:00 of the day before, once it is scheduled', async () => {
    const [early, late] = [await approvedAndScheduled(), await approvedAndScheduled()]
    const cancel = (txid: string) => call('PATCH', `/cobr/${txid}`, { status: 'CANCELADA' })
    const refused = await at('2026-03-20T01:00:00.000Z', () => cancel(late.txid))
    expect(violated(refused)).toEqual([400, 'CobROperacaoInvalida', 'cobr.status'])
    expect((await at('2026-03-20T00:59:59.999Z', () => cancel(early.txid))).status).toBe(200)
    // Nobody has to drop what nobody has scheduled.
    const { idRec } = await right('POST', '/rec', recBody())
    const { txid } = await right('POST', '/cobr', cobrBody(idRec))
    expect((await at('2026-03-20T02:59:59.999Z', () => cancel(txid))).status).toBe(200)
  })

  test('is made and scheduled two days before its day at the latest', async () => {
    const idRec = await approved({
      calendario: { dataInicial: '2026-12-30', periodicidade: 'MENSAL' },
    })
    const due = cobrBody(idRec, { calendario: { dataDeVencimento: '2026-12-31' } })
    const make = (moment: string) => at(moment, () => call('POST', '/cobr', due))
    expect(violated(await make('2026-12-30T03:00:00Z'))).toEqual([
      ...[400, 'CobROperacaoInvalida', 'cobr.calendario.dataDeVencimento'],
    ])
    sent()
    expect((await make('2026-12-30T02:59:59Z')).status).toBe(201)
    expect(sent()).toMatchObject([
      { params: { charges: [{ execution_date_time: '2026-12-31T03:00:00.000Z' }] } },
    ])
    // The day that counts is the one on which it is settled: here the Monday, not the Saturday.
    const weekend = await approved({
      calendario: { dataInicial: '2027-01-02', periodicidade: 'MENSAL' },
    })
    const saturday = cobrBody(weekend, { calendario: { dataDeVencimento: '2027-01-02' } })
    const settled = await at('2027-01-03T02:59:59Z', () => call('POST', '/cobr', saturday))
    expect(settled.json.tentativas).toMatchObject([{ dataLiquidacao: '2027-01-04' }])
  })

  test('that its payer authorises too late to schedule it is not sent, and expires', async () => {
    const { idRec, idSolicRec } = await requested({
      calendario: { dataInicial: '2026-03-08', periodicidade: 'MENSAL' },
    })
    const body = cobrBody(idRec, { calendario: { dataDeVencimento: '2026-03-09' } })
    const { txid } = await right('POST', '/cobr', body)
    sent()
    await at('2026-03-08T03:00:00Z', () => answer(idRec, 'confirmed', { reference: idSolicRec }))
    await at('2026-03-08T03:00:00Z', pix.sweep)
    expect(sentTypes()).toEqual([])
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'CRIADA' })
    await at('2026-03-10T04:00:00Z', pix.sweep)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'EXPIRADA' })
  })

  test('is sent again an hour after an error of the payer’s institution, three times', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    sent()
    const fail = (id: string, moment: string) => at(moment, () => ofCharge(id, 'refused', 'AB10'))
    await fail(endToEndId, '2026-03-10T04:00:00Z')
    await at('2026-03-10T04:59:59.999Z', pix.sweep)
    expect(sentTypes()).toEqual([])
    for (const hour of ['05', '06', '07']) {
      await at(`2026-03-10T${hour}:00:00Z`, pix.sweep)
      expect(sent()).toMatchObject([
        { type: 'PAIN013', params: { charges: [{ purpose: 'RIFL', due_date: '2026-03-20' }] } },
      ])
      const { status, tentativas } = await right('GET', `/cobr/${txid}`)
      expect([status, tentativas.at(-1).tipo, tentativas.at(-1).status]).toEqual([
        ...['ATIVA', 'RIFL', 'SOLICITADA'],
      ])
      await fail(tentativas.at(-1).endToEndId, `2026-03-10T${hour}:00:00Z`)
    }
    await at('2026-03-10T12:00:00Z', pix.sweep)
    expect(sentTypes()).toEqual([])
    const { tentativas } = await right('GET', `/cobr/${txid}`)
    expect(new Set(tentativas.map((one: Json) => one.endToEndId)).size).toBe(4)
  })

  test('is not sent again once the day is over on which it was to be settled', async () => {
    const { endToEndId } = await approvedAndScheduled()
    await at('2026-03-21T02:00:00Z', () => ofCharge(endToEndId, 'refused', 'AB10'))
    sent()
    await at('2026-03-21T03:00:00Z', pix.sweep)
    expect(sentTypes()).toEqual([])
  })

  test('stands where its settlement failed, and is tried again', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    const failed = { type: 'camt.055', speaker: '91193552', reconciliationId: txid }
    await at('2026-03-21T00:30:00Z', () => ofCharge(endToEndId, 'cancelled', 'FAIL', failed))
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      ...{ status: 'ATIVA', tentativas: [{ status: 'EXPIRADA' }] },
    })
    expect(await pay(endToEndId)).toBe('UPAY')
    const retry = () => call('POST', `/cobr/${txid}/retentativa/2026-03-23`)
    expect((await at('2026-03-21T12:00:00Z', retry)).status).toBe(201)
  })

  test('is judged by the institution of its payer alone, and under its own txid', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    const fails = { reconciliationId: txid.replaceAll(/./g, '0') }
    await ofCharge(endToEndId, 'refused', 'DENC', fails)
    await ofCharge(endToEndId, 'cancelled', 'SLBD', { speaker: '87654321', reconciliationId: txid })
    await ofCharge(endToEndId, 'cancelled', null, { speaker: '87654321', type: 'camt.029' })
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'ATIVA' })
    await ofCharge(endToEndId, 'cancelled', 'SLBD', { speaker: '91193552', reconciliationId: txid })
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      ...{
        status: 'CANCELADA',
        encerramento: { cancelamento: { solicitante: 'USUARIO_PAGADOR' } },
      },
    })
  })

  test('is rejected with its attempt where the reason is about the charge', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    await ofCharge(endToEndId, 'refused', 'DENC')
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'REJEITADA' })
  })

  test('is one of a cycle, with the amount that was agreed', async () => {
    const idRec = await approved()
    const txid = freshTxid()
    expect((await call('PUT', `/cobr/${txid}`, cobrBody(idRec))).status).toBe(201)
    const refusal = async (more: object, path = '/cobr', method = 'POST') =>
      violated(await call(method, path, cobrBody(idRec, more)))
    const [status, type] = [400, 'CobROperacaoInvalida']
    const due = 'cobr.calendario.dataDeVencimento'
    expect(await refusal({ calendario: { dataDeVencimento: '2026-04-19' } })).toEqual([
      ...[status, type, due],
    ])
    expect(await refusal({}, `/cobr/${txid}`, 'PUT')).toEqual([status, type, 'cobr.txid'])
    expect(await refusal({ calendario: { dataDeVencimento: '2026-03-01' } })).toEqual([
      ...[status, type, due],
    ])
    expect(await refusal({ valor: { original: '35.01' } })).toEqual([status, type, 'cobr.valor'])
    for (const original of ['0.00', '35,00', '2657.98Lj', '1'.repeat(400), '']) {
      expect(await refusal({ valor: { original } })).toEqual([status, type, 'cobr.valor'])
    }
    expect(await refusal({ recebedor: { conta: 'X' } })).toEqual([status, type, 'cobr.recebedor'])
    for (const [method, path] of [
      ['POST', '/cobr'],
      ['PUT', `/cobr/${freshTxid()}`],
    ] as const) {
      const nobodys = { idRec: 'RN9999999920260302NOBODY00000' }
      expect(await refusal(nobodys, path, method)).toEqual([status, type, 'cobr.idRec'])
      const others = await call(method, path, cobrBody(idRec), other.token)
      expect(violated(others)).toEqual([status, type, 'cobr.idRec'])
    }
    expect(await refusal({}, '/cobr/short', 'PUT')).toEqual([status, type, 'cobr.txid'])
    const next = cobrBody(idRec, { calendario: { dataDeVencimento: '2026-04-20' } })
    expect((await call('POST', '/cobr', next)).status).toBe(201)
  })

  test('credits an account of its receiver, once one is known', async () => {
    const rec = await call('POST', '/rec', recBody(), owner.token)
    const credit = async (conta: string, agencia: string | undefined, tipoConta: string) => {
      const body = cobrBody(rec.json.idRec, { recebedor: { conta, agencia, tipoConta } })
      const made = await call('POST', '/cobr', body, owner.token)
      if (made.status === 201) {
        await call('PATCH', `/cobr/${made.json.txid}`, { status: 'CANCELADA' }, owner.token)
      }
      return made.status === 201 ? 201 : violated(made)
    }
    const refused = [400, 'CobROperacaoInvalida', 'cobr.recebedor']
    expect(await credit('012682', '0097', 'CORRENTE')).toBe(201)
    expect(await credit('12682', undefined, 'CORRENTE')).toBe(201)
    expect(await credit('12683', '97', 'CORRENTE')).toEqual(refused)
    expect(await credit('12682', '98', 'CORRENTE')).toEqual(refused)
    expect(await credit('12682', '97', 'POUPANCA')).toEqual(refused)
  })

  test('is listed by recurrence, status and debtor, and is nobody else\u2019s', async () => {
    const idRec = await approved()
    const { txid } = await right('POST', '/cobr', cobrBody(idRec))
    const year = 'inicio=2026-01-01T00:00:00Z&fim=2026-12-31T00:00:00Z'
    const listed = async (query: string): Promise<readonly string[]> =>
      (await right('GET', `/cobr?${year}&${query}`)).cobsr.map((one: Json) => one.txid)
    expect(await listed(`idRec=${idRec}`)).toEqual([txid])
    expect(await listed('cpf=45164632481&status=CRIADA')).toContain(txid)
    expect(await listed('cpf=15231470190')).toEqual([])
    for (const path of [`/cobr/${txid}`, `/rec/${idRec}`]) {
      expect((await call('GET', path, undefined, other.token)).status).toBe(404)
    }
    const patched = await call('PATCH', `/cobr/${txid}`, { status: 'CANCELADA' }, other.token)
    expect(patched.status).toBe(404)
    const retried = await call(
      ...(['POST', `/cobr/${txid}/retentativa/2026-03-25`, undefined, other.token] as const),
    )
    expect(retried.status).toBe(404)
  })
})
