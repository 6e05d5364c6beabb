/** Pix Automático as a receiver and the institutions of payers have it, on a day in March of 2026. */
import { type Json, startPix } from './support.ts'

export const startAutomatic = async () => {
  let clock = new Date()
  const pix = await startPix(() => clock)
  const { key, token } = await pix.receiver('ana')
  const other = await pix.receiver('bia', '98765432000198')
  const owner = await pix.receiver('cora', '11222333000181', {
    account_number: '12682',
    branch: '97',
    account_type: 'CACC',
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
    status,
    json.type?.split('/').at(-1),
    ...(json.violacoes ?? []).map(({ propriedade }: Json) => propriedade),
  ]

  /** What was sent since the last look. */
  const sent = (): readonly Json[] => pix.drafts.splice(0)
  const sentTypes = (): readonly string[] => sent().map(({ type }) => type)

  let serial = 0
  const datedId = (letters: string): string =>
    `${letters}9119355220260302${String(++serial).padStart(11, '0')}`
  const payer = {
    debtorDocument: '15231470190',
    debtorIspb: '91193552',
    debtorAccount: '550689',
    debtorBranch: '2569',
    debtorTown: '3106200',
  }
  /** The payer's institution says something of a mandate or charge. */
  const say = (fact: Json): Promise<readonly Json[]> =>
    pix.sql.begin(async (tx) => (await pix.recurrences?.told(tx, [fact], clock)) ?? [])
  const ofMandate = (idRec: string, event: string, more: Json = {}): Json => {
    const { reference = null, journey = null, ...rest } = more
    return {
      kind: 'mandate',
      key: idRec,
      type: 'pain.012',
      event,
      requestId: datedId('IS'),
      reason: null,
      reconciliationId: null,
      mandate: { ...payer, reference, journey },
      ...rest,
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
      kind: 'charge',
      key: endToEndId,
      type: 'pain.014',
      event,
      requestId: null,
      reason,
      reconciliationId: null,
      ...more,
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
  const pay = (endToEndId: string, cents = 3_500n, more: Json = {}) =>
    pix.sql.begin(async (tx) => {
      const payment = {
        endToEndId,
        txid: null,
        amountCents: cents,
        localInstrument: 'AUTO',
        creditorDocument: '12345678000195',
        creditorKey: null,
        debtorDocument: '15231470190',
        text: null,
        withdrawal: null,
        ...more,
      }
      return (await pix.receivables?.receive(tx, [payment], clock))?.get(endToEndId) ?? 'accepted'
    })
  const settle = (endToEndId: string, isSettled = true) =>
    pix.sql.begin(async (tx) => {
      const end = { endToEndId, returnId: null, isSettled, reason: null }
      await pix.receivables?.end(tx, [end], clock)
    })
  return {
    now: () => clock,
    pix,
    key,
    token,
    other,
    owner,
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
    ofCharge,
    recOf,
    statuses,
    requested,
    approved,
    cobrBody,
    at,
    scheduledCharge,
    pay,
    settle,
  }
}
