/** Charges of recurrences, as the institutions of payers tell of them. */
import { afterAll, describe, expect, test } from 'bun:test'
import { startAutomatic } from './automatic.ts'
import { chargeBody, freshTxid, type Json } from './support.ts'

const {
  pix,
  key,
  other,
  owner,
  call,
  right,
  recBody,
  violated,
  sent,
  sentTypes,
  answer,
  ofCharge,
  statuses,
  requested,
  approved,
  cobrBody,
  at,
  scheduledCharge,
  pay,
  settle,
  now,
} = await startAutomatic()
afterAll(() => pix.database.close())

describe('a charge of a recurrence', () => {
  test('is made, scheduled ten days before its day, and paid once', async () => {
    const idRec = await approved()
    const made = await right('POST', '/cobr', cobrBody(idRec, { infoAdicional: 'Março' }))
    expect(made).toEqual({
      idRec,
      txid: expect.stringMatching(/^[0-9a-f]{32}$/),
      status: 'CRIADA',
      atualizacao: [{ status: 'CRIADA', data: now().toISOString() }],
      infoAdicional: 'Março',
      valor: { original: '35.00' },
      calendario: { criacao: '2026-03-02', dataDeVencimento: '2026-03-20' },
      ajusteDiaUtil: true,
      politicaRetentativa: 'PERMITE_3R_7D',
      recebedor: {
        cnpj: '12345678000195',
        nome: 'Padaria São José',
        agencia: '9708',
        conta: '012682',
        tipoConta: 'CORRENTE',
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
            reconciliation_id: made.txid,
            end_to_end_id: endToEndId,
            amount: 3_500,
            mandate_id: idRec,
            purpose: 'AGND',
            due_date: '2026-03-20',
            execution_date_time: '2026-03-20T03:00:00.000Z',
            creditor: { account_num: '012682', account_type: 'CACC' },
          },
        ],
      },
    })
    await ofCharge(endToEndId, 'scheduled')
    expect(await right('GET', `/cobr/${made.txid}`)).toMatchObject({
      status: 'ATIVA',
      tentativas: [{ status: 'AGENDADA' }],
    })
    expect([await pay(endToEndId, 3_499n)]).toEqual(['BE17'])
    const paid = await approvedAndScheduled()
    expect(await pay(paid.endToEndId)).toBe('accepted')
    await settle(paid.endToEndId)
    expect(await right('GET', `/cobr/${paid.txid}`)).toMatchObject({
      status: 'CONCLUIDA',
      tentativas: [{ status: 'PAGA' }],
      pix: [{ endToEndId: paid.endToEndId, valor: '35.00' }],
    })
    await settle(paid.endToEndId)
    expect(statuses(await right('GET', `/cobr/${paid.txid}`))).toEqual([
      ...['CRIADA', 'ATIVA', 'CONCLUIDA'],
    ])
  })

  test('of which no message can be built stops no other, and is tried again later', async () => {
    const [bad, good] = [await approved(), await approved()]
    const scheduled = async (idRec: string, infoAdicional: string) => {
      const { txid } = await right('POST', '/cobr', cobrBody(idRec, { infoAdicional }))
      await pix.sql`
        update pix_collections set content = replace(content, 'FFFE', '\ufffe')
        where txid = ${txid}`
      return async () => (await right('GET', `/cobr/${txid}`)).tentativas?.length ?? 0
    }
    const attempts = [await scheduled(bad, 'FFFE'), await scheduled(good, 'Março')] as const
    // Nothing of one that waits for its first payment can be said either.
    const waiting = await right(
      ...([
        'POST',
        '/rec',
        recBody({ ativacao: { dadosJornada: { txid: freshTxid() } } }),
      ] as const),
    )
    await answer(waiting.idRec, 'pending', { journey: 'AUT3' })
    await pix.sql`
      update pix_recurrences set terms = replace(terms, 'C-1', '\ufffe') where id = ${waiting.idRec}`
    await at('2026-03-10T03:00:00Z', pix.sweep)
    expect([await attempts[0](), await attempts[1]()]).toEqual([0, 1])
    const [due] = await pix.sql<{ at: Date }[]>`
      select next_at as at from pix_collections where recurrence_id = ${bad}`
    expect(due?.at.toISOString()).toBe('2026-03-10T04:00:00.000Z')
    await pix.sql`
      update pix_collections set content = replace(content, '\ufffe', 'Abril') where recurrence_id = ${bad}`
    await pix.sql`delete from pix_recurrences where id = ${waiting.idRec}`
    await at('2026-03-10T04:00:00Z', pix.sweep)
    expect(await attempts[0]()).toBe(1)
    sent()
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
      status: 'CANCELADA',
      tentativas: [{ status: 'CANCELADA' }],
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

  test('is neither cancelled nor tried again while it is being paid', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    expect(await pay(endToEndId)).toBe('accepted')
    const cancelled = await call('PATCH', `/cobr/${txid}`, { status: 'CANCELADA' })
    expect(violated(cancelled)).toEqual([400, 'CobROperacaoInvalida', 'cobr.status'])
    // The day of the attempt is over before the payment has its end.
    const again = await at('2026-03-21T12:00:00Z', () =>
      call('POST', `/cobr/${txid}/retentativa/2026-03-23`),
    )
    expect(violated(again)).toEqual([400, 'CobROperacaoInvalida', 'cobr.status'])
    expect(sentTypes()).not.toContain('CAMT055')
    // Nor does the payer's institution end it.
    await ofCharge(endToEndId, 'refused', 'DENC')
    await ofCharge(endToEndId, 'cancelled', 'SLBD', { speaker: '91193552', reconciliationId: txid })
    // What failed before may have been tried again since.
    const failed = { type: 'camt.055', speaker: '91193552', reconciliationId: txid }
    await ofCharge(endToEndId, 'cancelled', 'FAIL', failed)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      status: 'ATIVA',
      tentativas: [{ status: 'AGENDADA' }],
    })
    await settle(endToEndId)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      status: 'CONCLUIDA',
      tentativas: [{ status: 'PAGA' }],
    })
  })

  test('is tried again three times in seven days', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    const retry = (day: string, moment: string) =>
      at(moment, () => call('POST', `/cobr/${txid}/retentativa/${day}`))
    const open = await retry('2026-03-22', '2026-03-20T12:00:00Z')
    expect(violated(open)).toEqual([400, 'CobROperacaoInvalida', 'cobr.tentativas'])
    await at('2026-03-20T12:00:00Z', () => ofCharge(endToEndId, 'refused', 'AM02'))
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({
      status: 'ATIVA',
      tentativas: [{ status: 'REJEITADA', rejeicao: { codigo: 'AM02' } }],
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

  test('is tried again on a later day each time, before the next cycle', async () => {
    const { txid, endToEndId } = await approvedAndScheduled()
    const refuse = (id: string, moment: string) => at(moment, () => ofCharge(id, 'refused', 'AM02'))
    const retry = (one: string, day: string, moment: string) =>
      at(moment, () => call('POST', `/cobr/${one}/retentativa/${day}`))
    await refuse(endToEndId, '2026-03-20T12:00:00Z')
    const first = await retry(txid, '2026-03-25', '2026-03-21T12:00:00Z')
    await refuse(first.json.tentativas.at(-1).endToEndId, '2026-03-21T13:00:00Z')
    for (const day of ['2026-03-25', '2026-03-24']) {
      const refused = await retry(txid, day, '2026-03-21T14:00:00Z')
      expect(violated(refused)).toEqual([400, 'CobROperacaoInvalida', 'data'])
    }
    expect((await retry(txid, '2026-03-26', '2026-03-21T14:00:00Z')).status).toBe(201)
    // Due on a Saturday, settled on the Monday after it; the next period begins on the 25th.
    const idRec = await approved({
      calendario: { dataInicial: '2026-03-04', periodicidade: 'SEMANAL' },
    })
    const due = cobrBody(idRec, { calendario: { dataDeVencimento: '2026-03-21' } })
    const weekend = (await right('POST', '/cobr', due)).txid
    await at('2026-03-15T03:00:00Z', pix.sweep)
    const { tentativas } = await right('GET', `/cobr/${weekend}`)
    await refuse(tentativas[0].endToEndId, '2026-03-16T12:00:00Z')
    for (const [day, status] of [
      ['2026-03-23', 400],
      ['2026-03-25', 400],
      ['2026-03-24', 201],
    ] as const) {
      const { status: got, json } = await retry(weekend, day, '2026-03-22T12:00:00Z')
      expect(got).toBe(status)
      if (day === '2026-03-25') expect(json.violacoes[0].razao).toEndWith('até 2026-03-24.')
      if (got === 201) await refuse(json.tentativas.at(-1).endToEndId, '2026-03-22T13:00:00Z')
    }
    // It may not be tried in the next cycle: there is nothing to wait for.
    const shown = async () => (await right('GET', `/cobr/${weekend}`)).status
    await at('2026-03-25T03:59:59Z', pix.sweep)
    expect(await shown()).toBe('CRIADA')
    await at('2026-03-25T04:00:00Z', pix.sweep)
    expect(await shown()).toBe('EXPIRADA')
  })

  test('is not tried again before it has been tried', async () => {
    const { txid } = await right('POST', '/cobr', cobrBody(await approved()))
    sent()
    const early = await call('POST', `/cobr/${txid}/retentativa/2026-03-21`)
    expect(violated(early)).toEqual([400, 'CobROperacaoInvalida', 'cobr.tentativas'])
    await at('2026-03-10T03:00:00Z', pix.sweep)
    expect(sent()).toMatchObject([{ params: { charges: [{ purpose: 'AGND' }] } }])
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

  test('is due within its recurrence, from the first day to the last', async () => {
    const idRec = await approved({
      calendario: {
        dataInicial: '2026-03-20',
        dataFinal: '2026-05-20',
        periodicidade: 'MENSAL',
      },
    })
    const make = (dataDeVencimento: string) =>
      call('POST', '/cobr', cobrBody(idRec, { calendario: { dataDeVencimento } }))
    const refused = [400, 'CobROperacaoInvalida', 'cobr.calendario.dataDeVencimento']
    for (const day of ['2026-03-19', '2026-05-21'])
      expect(violated(await make(day))).toEqual(refused)
    for (const day of ['2026-03-20', '2026-05-20']) expect((await make(day)).status).toBe(201)
  })

  test('is put again as often as it is asked for, and made once', async () => {
    const idRec = await approved()
    const txid = freshTxid()
    const body = cobrBody(idRec, { devedor: { cidade: 'Recife', cep: '50030-230' } })
    const put = (more: object = {}) => call('PUT', `/cobr/${txid}`, { ...body, ...more })
    const all = await Promise.all(Array.from({ length: 8 }, () => put()))
    expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(all[0]?.status).toBe(201)
    const used = [400, 'CobROperacaoInvalida', 'cobr.txid']
    for (const more of [
      { infoAdicional: 'Outra' },
      { ajusteDiaUtil: false },
      { calendario: { dataDeVencimento: '2026-03-21' } },
    ]) {
      expect(violated(await put(more))).toEqual(used)
    }
    await at('2026-03-10T03:00:00Z', pix.sweep)
    const asked = sent().filter(({ params }) => params.charges[0].reconciliation_id === txid)
    expect(asked).toHaveLength(1)
    // It is answered what became of it, also when it could not be made any more.
    const again = await at('2026-03-21T12:00:00Z', () => put())
    expect([again.status, again.json]).toEqual([201, await right('GET', `/cobr/${txid}`)])
    await right('PATCH', `/cobr/${txid}`, { status: 'CANCELADA' })
    expect(violated(await put())).toEqual(used)
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

  test('keeps the first day of its recurrence where it is, or a period would be charged twice', async () => {
    const { idRec } = await right('POST', '/rec', recBody())
    const move = (dataInicial: string) =>
      call('PATCH', `/rec/${idRec}`, { calendario: { dataInicial } })
    const { txid } = await right('POST', '/cobr', cobrBody(idRec))
    const refusal = [400, 'RecOperacaoInvalida', 'rec.calendario.dataInicial']
    expect(violated(await move('2026-03-21'))).toEqual(refusal)
    expect((await move('2026-03-20')).status).toBe(200)
    await right('PATCH', `/cobr/${txid}`, { status: 'CANCELADA' })
    expect((await move('2026-03-21')).json).toMatchObject({
      calendario: { dataInicial: '2026-03-21' },
    })
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
      status: 'ATIVA',
      tentativas: [{ status: 'EXPIRADA' }],
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
      status: 'CANCELADA',
      encerramento: { cancelamento: { solicitante: 'USUARIO_PAGADOR' } },
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
      status,
      type,
      due,
    ])
    const another = { infoAdicional: 'Outra' }
    expect(await refusal(another, `/cobr/${txid}`, 'PUT')).toEqual([status, type, 'cobr.txid'])
    expect(await refusal({ calendario: { dataDeVencimento: '2026-03-01' } })).toEqual([
      status,
      type,
      due,
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
    for (const dataDeVencimento of ['2037-01-01', '9999-12-30', '9999-12-31']) {
      expect(await refusal({ calendario: { dataDeVencimento } })).toEqual([
        ...[status, type, 'cobr.calendario.dataDeVencimento'],
      ])
    }
    expect(await refusal({}, '/cobr/short', 'PUT')).toEqual([status, type, 'cobr.txid'])
    const next = cobrBody(idRec, { calendario: { dataDeVencimento: '2026-04-20' } })
    expect((await call('POST', '/cobr', next)).status).toBe(201)
  })

  test('has a txid that no immediate charge has, whichever comes first', async () => {
    const [mine, other] = [freshTxid(), freshTxid()]
    const immediate = (txid: string) => call('PUT', `/cob/${txid}`, chargeBody(key))
    expect((await call('PUT', `/cobr/${mine}`, cobrBody(await approved()))).status).toBe(201)
    expect(violated(await immediate(mine))).toEqual([400, 'CobOperacaoInvalida', 'cob.txid'])
    expect((await call('GET', `/cob/${mine}`)).status).toBe(404)
    expect((await immediate(other)).status).toBe(201)
    const late = await call('PUT', `/cobr/${other}`, cobrBody(await approved()))
    expect(violated(late)).toEqual([400, 'CobROperacaoInvalida', 'cobr.txid'])
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
    expect(await listed(`idRec=${idRec}&cpf=15231470190`)).toEqual([])
    expect(await listed(`idRec=${idRec}&status=CONCLUIDA`)).toEqual([])
    const agreed = await approved({ recebedor: { convenio: 'C-7' } })
    const second = await right('POST', '/cobr', cobrBody(agreed))
    expect(await listed('convenio=C-7')).toEqual([second.txid])
    expect(await listed('convenio=C-7&cpf=45164632481&status=CRIADA')).toEqual([second.txid])
    expect(await listed(`convenio=C-7&idRec=${idRec}`)).toEqual([])
    expect(await listed('convenio=C-8')).toEqual([])
    // Versions before this one noted no agreement with a charge.
    await pix.sql`update pix_collections set agreement = null`
    expect(await listed('convenio=C-7&status=CRIADA')).toEqual([second.txid])
    await pix.sweep()
    const kept = await pix.sql<{ txid: string }[]>`
      select txid from pix_collections where agreement = 'C-7'`
    expect(kept.map(({ txid }) => txid)).toEqual([second.txid])
    expect((await pix.sql`select from pix_collections where agreement is null`).count).toBe(0)
    expect(await listed('convenio=C-7')).toEqual([second.txid])
    expect(await listed('cpf=45164632481')).toEqual(expect.arrayContaining([txid, second.txid]))
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
