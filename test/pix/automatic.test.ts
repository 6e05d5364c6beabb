/** Pix Automático: payers are asked, authorise and end it, as their institutions tell of it. */
import { afterAll, describe, expect, test } from 'bun:test'
import { startAutomatic } from './automatic.ts'
import { chargeBody, freshTxid, type Json } from './support.ts'

const {
  pix,
  key,
  token,
  other,
  call,
  right,
  recBody,
  recipient,
  requestBody,
  violated,
  sent,
  sentTypes,
  datedId,
  say,
  ofMandate,
  answer,
  recOf,
  statuses,
  requested,
  approved,
  cobrBody,
  at,
  pay,
  settle,
} = await startAutomatic()
afterAll(() => pix.database.close())

describe('a request to a payer', () => {
  test('is a pain.009, and authorises the recurrence once he accepts', async () => {
    sent()
    const { idRec } = await right('POST', '/rec', recBody())
    const { idSolicRec, ...shown } = await right('POST', '/solicrec', requestBody(idRec))
    expect({ idSolicRec, ...shown }).toMatchObject({
      idSolicRec: expect.stringMatching(/^SC1234567820260302[0-9A-Za-z]{11}$/),
      ...requestBody(idRec, {
        calendario: { dataExpiracaoSolicitacao: '2026-03-10T12:00:00.000Z' },
      }),
      status: 'CRIADA',
      recPayload: { idRec, recebedor: { ispbParticipante: '12345678' } },
    })
    expect(sent()).toMatchObject([
      {
        type: 'pain.009',
        params: {
          mandates: [
            {
              mandate_id: idRec,
              request_id: idSolicRec,
              amount: 3_500,
              frequency: 'MNTH',
              debtor: { ispb: '91193552', account_num: '550689' },
              ultimate_debtor: { document: '45164632481' },
              contract_number: 'C-1',
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
      status: 'APROVADA',
      ativacao: { tipoJornada: 'JORNADA_1' },
      pagador: { cpf: '15231470190', ispbParticipante: '91193552', codMun: '3106200' },
    })
    // What comes again changes nothing.
    await answer(idRec, 'confirmed', { reference: idSolicRec })
    expect(statuses(await recOf(idRec))).toEqual(['CRIADA', 'APROVADA'])
  })

  test('tells the beginning of a receiver\u2019s long name, cut between two characters', async () => {
    const name = `${'a'.repeat(139)}😀 Ltda.`
    const long = await at(new Date().toISOString(), () => pix.receiver('long'))
    // It was named before names had to have a form in ASCII.
    await pix.sql`update pix_receivers set name = ${name} where account = 'long'`
    const { idRec } = (await call('POST', '/rec', recBody(), long.token)).json
    sent()
    expect((await call('POST', '/solicrec', requestBody(idRec), long.token)).status).toBe(201)
    expect(sent()[0]?.params.mandates[0].creditor.name).toBe(`${'a'.repeat(139)}😀`)
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
      status: 'REJEITADA',
      encerramento: { rejeicao: { codigo: 'AP14' } },
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
    await at('2026-03-10T12:00:01Z', pix.sweep)
    expect(await right('GET', `/solicrec/${idSolicRec}`)).toMatchObject({ status: 'EXPIRADA' })
    await right('POST', '/solicrec', requestBody(idRec))
  })

  test('keeps the first day of its recurrence where it is', async () => {
    const { idRec, idSolicRec } = await requested()
    const move = (dataInicial: string) =>
      call('PATCH', `/rec/${idRec}`, { calendario: { dataInicial } })
    const refusal = [400, 'RecOperacaoInvalida', 'rec.calendario.dataInicial']
    expect(violated(await move('2026-03-21'))).toEqual(refusal)
    await answer(idRec, 'pending', { reference: idSolicRec })
    expect(violated(await move('2026-03-21'))).toEqual(refusal)
    expect((await move('2026-03-20')).status).toBe(200)
    await right('PATCH', `/solicrec/${idSolicRec}`, { status: 'CANCELADA' })
    expect((await move('2026-03-21')).status).toBe(200)
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

  test('is listed with those before it, newest first, to nobody else', async () => {
    const { idRec, idSolicRec } = await requested()
    await right('PATCH', `/solicrec/${idSolicRec}`, { status: 'CANCELADA' })
    const { idSolicRec: second } = await at('2026-03-02T12:00:01Z', () =>
      right('POST', '/solicrec', requestBody(idRec)),
    )
    const listed = (of: string, as = token) =>
      pix.call('GET', `/v1/pix/recurrence-requests?recurrence_id=${of}`, { token: as })
    const { json } = await listed(idRec)
    expect(json.requests.map(({ id }: Json) => id)).toEqual([second, idSolicRec])
    expect(json.requests[1].status).toBe('CANCELADA')
    expect(json.requests[0]).toMatchObject({
      payer_ispb: '91193552',
      expires_at: '2026-03-10T12:00:00.000Z',
    })
    expect((await listed(idRec, other.token)).json).toEqual({ requests: [] })
    expect((await listed(`RR${'0'.repeat(27)}`)).json).toEqual({ requests: [] })
    expect((await listed(`RR${'0'.repeat(28)}`)).status).toBe(400)
  })
})

test('however many recurrences are over, one round ends all', async () => {
  const { idRec } = await right('POST', '/rec', recBody())
  await pix.sql`
    insert into pix_recurrences (id, account, tax_id, receiver_name, debtor_tax_id, terms, history,
      created_at)
    select 'over' || n, account, tax_id, receiver_name, debtor_tax_id,
      jsonb_set(terms::jsonb, '{endsOn}', '"2026-03-01"')::text, history, created_at
    from pix_recurrences cross join generate_series(1, 401) as n where id = ${idRec}`
  await pix.sweep()
  const left = await pix.sql`
    select from pix_recurrences where id like 'over%' and status <> 'EXPIRADA'`
  expect(left.count).toBe(0)
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
      status: 'APROVADA',
      ativacao: { tipoJornada: 'JORNADA_3', dadosJornada: { txid } },
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

  test.each([
    ['is confirmed once it settles', true, { status: 'CFDB' }, 'APROVADA'],
    ['is refused once it does not settle', false, { reason: 'AP08' }, 'CRIADA'],
  ])('by AUT3, and is paying after the hour, %s', async (_, is, params, status) => {
    const txid = freshTxid()
    await right('PUT', `/cob/${txid}`, chargeBody(key, { valor: { original: '35.00' } }))
    const { idRec } = await right('POST', '/rec', recBody({ ativacao: { dadosJornada: { txid } } }))
    await answer(idRec, 'pending', { journey: 'AUT3' })
    const endToEndId = `E9119355220260302${txid.slice(-15)}`
    expect(await pay(endToEndId, 3_500n, { txid, localInstrument: 'QRDN' })).toBe('accepted')
    sent()
    await at('2026-03-02T13:00:00Z', pix.sweep)
    expect(sentTypes()).toEqual([])
    await settle(endToEndId, is)
    await at('2026-03-02T13:10:00Z', pix.sweep)
    expect(sent()).toMatchObject([{ type: 'pain.012', params }])
    expect(await recOf(idRec)).toMatchObject({ status })
  })

  test('by AUT3 at the end of its last day is answered before it expires', async () => {
    const calendario = {
      dataInicial: '2026-03-20',
      dataFinal: '2026-04-20',
      periodicidade: 'MENSAL',
    }
    const ativacao = { dadosJornada: { txid: freshTxid() } }
    const { idRec } = await right('POST', '/rec', recBody({ calendario, ativacao }))
    await at('2026-04-21T02:30:00Z', () => answer(idRec, 'pending', { journey: 'AUT3' }))
    sent()
    await at('2026-04-21T03:00:00Z', pix.sweep)
    expect(await recOf(idRec)).toMatchObject({ status: 'CRIADA' })
    await at('2026-04-21T03:30:00Z', pix.sweep)
    expect(sent()).toMatchObject([{ type: 'pain.012', params: { reason: 'AP08' } }])
    await at('2026-04-21T03:30:15Z', pix.sweep)
    expect(await recOf(idRec)).toMatchObject({ status: 'EXPIRADA' })
  })

  test('by AUT3 on its last day waits no longer for saying it again afterwards', async () => {
    const calendario = {
      dataInicial: '2026-03-20',
      dataFinal: '2026-04-20',
      periodicidade: 'MENSAL',
    }
    const ativacao = { dadosJornada: { txid: freshTxid() } }
    const { idRec } = await right('POST', '/rec', recBody({ calendario, ativacao }))
    const requestId = datedId('IS')
    const again = (more: object) => answer(idRec, 'pending', { journey: 'AUT3', ...more })
    await at('2026-04-21T02:30:00Z', () => again({ requestId }))
    sent()
    // The same report is not refused and confirmed.
    expect(await at('2026-04-21T03:20:00Z', () => again({ requestId }))).toEqual([])
    expect(await at('2026-04-21T03:20:00Z', () => again({}))).toMatchObject([
      { params: { reason: 'AP07' } },
    ])
    await at('2026-04-21T03:30:00Z', pix.sweep)
    expect(sent()).toMatchObject([{ params: { reason: 'AP08', reference: requestId } }])
    await at('2026-04-21T03:30:15Z', pix.sweep)
    expect(await recOf(idRec)).toMatchObject({ status: 'EXPIRADA' })
  })

  const stranger = {
    debtorDocument: '39053344705',
    debtorIspb: '87654321',
    debtorAccount: '77',
    debtorBranch: null,
    debtorTown: null,
    reference: null,
  }
  const waitingPayer = async () => {
    const ativacao = { dadosJornada: { txid: freshTxid() } }
    const { idRec, idSolicRec } = await requested({ ativacao })
    const requestId = datedId('IS')
    await answer(idRec, 'pending', { journey: 'AUT3', requestId })
    sent()
    return { idRec, idSolicRec, requestId }
  }

  test.each(['AUT2', 'AUT3'])(
    'by AUT3 is refused once another authorises it by %s',
    async (journey) => {
      const { idRec, requestId } = await waitingPayer()
      const drafts = await answer(idRec, 'pending', { mandate: { ...stranger, journey } })
      const toHim = drafts.filter(({ params }) => params.reference === requestId)
      expect(toHim).toMatchObject([{ type: 'pain.012', params: { reason: 'AP05' } }])
      expect(toHim[0]?.params).toMatchObject({ debtor: { ispb: '91193552' } })
    },
  )

  test('by AUT3 is refused once the request for it is refused for good, and keeps his place if he says it again', async () => {
    const { idRec, requestId } = await waitingPayer()
    expect(await answer(idRec, 'pending', { journey: 'AUT3', requestId })).toEqual([])
    expect(await answer(idRec, 'refused', { reason: 'AP14' })).toMatchObject([
      { type: 'pain.012', params: { reason: 'AP07', reference: requestId } },
    ])
  })

  test.each(['AUT2', 'AUT3', 'AUT4'])(
    'by %s that is authorised already: he is confirmed, another is refused',
    async (journey) => {
      const idRec = await approved()
      expect(await answer(idRec, 'pending', { journey })).toMatchObject([
        { type: 'pain.012', params: { status: 'CFDB', mandate_id: idRec } },
      ])
      const other = { mandate: { ...stranger, journey } }
      expect(await answer(idRec, 'pending', other)).toMatchObject([
        { type: 'pain.012', params: { reason: 'AP05', mandate_id: idRec } },
      ])
      expect(await recOf(idRec)).toMatchObject({ status: 'APROVADA' })
    },
  )

  test('by AUT3 finds first day and first charge as they were, until he has not paid', async () => {
    const dadosJornada = { txid: freshTxid() }
    const { idRec } = await right('POST', '/rec', recBody({ ativacao: { dadosJornada } }))
    await answer(idRec, 'pending', { journey: 'AUT3' })
    const revise = (change: object) => call('PATCH', `/rec/${idRec}`, change)
    const later = { calendario: { dataInicial: '2026-03-21' } }
    const another = { ativacao: { dadosJornada: { txid: freshTxid() } } }
    expect(violated(await revise(later)).at(-1)).toBe('rec.calendario.dataInicial')
    expect(violated(await revise(another)).at(-1)).toBe('rec.ativacao.dadosJornada.txid')
    expect((await revise({ ativacao: { dadosJornada } })).status).toBe(200)
    await at('2026-03-02T13:00:00Z', pix.sweep)
    sent()
    expect((await revise({ ...later, ...another })).status).toBe(200)
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
      status: 'APROVADA',
      pagador: { ispbParticipante: '87654321' },
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
      status: 'CANCELADA',
      encerramento: { cancelamento: { solicitante: 'PSP_RECEBEDOR' } },
    })
    expect(await recOf(agreed)).toMatchObject({ status: 'APROVADA' })
    await at('2026-03-21T03:00:01Z', async () => {
      for (const [event, said] of [
        ['pending', { journey: 'AUT2' }],
        ['confirmed', { reference: idSolicRec }],
      ] as const) {
        expect(await answer(idRec, event, said)).toMatchObject([{ params: { reason: 'AP07' } }])
      }
    })
    expect(await recOf(idRec)).toMatchObject({ status: 'EXPIRADA' })
  })

  test('is authorised and asked for no more after its last day, also where nobody has noted that', async () => {
    const calendario = {
      dataInicial: '2026-03-20',
      dataFinal: '2026-03-20',
      periodicidade: 'ANUAL',
    }
    const late = { calendario: { dataExpiracaoSolicitacao: '2026-03-30T12:00:00Z' } }
    const { idRec } = await right('POST', '/rec', recBody({ calendario }))
    const { idSolicRec } = await right('POST', '/solicrec', requestBody(idRec, late))
    const unasked = (await right('POST', '/rec', recBody({ calendario }))).idRec
    await at('2026-03-21T03:00:00Z', async () => {
      for (const [id, event, said] of [
        [idRec, 'confirmed', { reference: idSolicRec }],
        ...['AUT2', 'AUT3', 'AUT4'].map((journey) => [unasked, 'pending', { journey }] as const),
      ] as const) {
        expect(await answer(id, event, said)).toMatchObject([
          { type: 'pain.012', params: { reason: 'AP07' } },
        ])
        expect(await recOf(id)).toMatchObject({ status: 'CRIADA' })
      }
      const asked = await call('POST', '/solicrec', requestBody(unasked, late))
      expect(violated(asked)).toEqual([400, 'SolicRecOperacaoInvalida', 'solicrec.idRec'])
      await pix.sweep()
      expect(await recOf(unasked)).toMatchObject({ status: 'EXPIRADA' })
    })
  })
})

describe('an end', () => {
  test.each([
    ['the receiver', (id: string) => right('PATCH', `/rec/${id}`, { status: 'CANCELADA' })],
    ['its payer', (id: string) => answer(id, 'refused', { reason: 'AP14' })],
  ])('by %s: who reads the code or confirms afterwards is refused', async (_, end) => {
    const { idRec, idSolicRec } = await requested()
    await end(idRec)
    sent()
    const { status } = await recOf(idRec)
    for (const [event, said] of [
      ...['AUT2', 'AUT3', 'AUT4'].map((journey) => ['pending', { journey }] as const),
      ['confirmed', { reference: idSolicRec }],
    ] as const) {
      expect(await answer(idRec, event, said)).toMatchObject([
        { type: 'pain.012', params: { reason: 'AP07' } },
      ])
    }
    expect(await recOf(idRec)).toMatchObject({ status })
  })

  test('of a recurrence that nobody was asked for: who reads its code is refused', async () => {
    const { idRec } = await right('POST', '/rec', recBody())
    await right('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })
    expect(await answer(idRec, 'pending', { journey: 'AUT2' })).toMatchObject([
      { type: 'pain.012', params: { reason: 'AP07', mandate_id: idRec } },
    ])
  })

  test('that the payer\u2019s institution tells is answered, and ends what is charged', async () => {
    const idRec = await approved()
    const { txid } = await right('POST', '/cobr', cobrBody(idRec))
    const [draft, ...more] = await answer(idRec, 'cancellation_requested', {
      type: 'pain.011',
      reason: 'SLDB',
      requestId: datedId('IC'),
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
