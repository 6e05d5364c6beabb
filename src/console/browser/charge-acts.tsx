import { type Act, type ScopedAct, sending } from './act.tsx'
import { amountsAsked } from './amounts.ts'
import { amountOf, type Kind, placeOf, type Told } from './charge-kinds.ts'
import { chargeWords as w } from './charge-words.ts'
import { dayEnd, daysAgo } from './days.tsx'
import { given, textIn } from './fields.tsx'
import { IdLink } from './router.tsx'
import { fill } from './words.ts'

/** Reais as the standard writes them. The API says what is wrong with any other text. */
const reaisIn = (form: FormData): string => {
  const { amount = '' } = amountsAsked(textIn(form, 'amount'))
  const [whole, cents = ''] = amount.split('.')
  return /^\d+$/.test(whole ?? '') ? `${whole}.${cents.padEnd(2, '0')}` : amount
}

type Made = { readonly txid?: string; readonly idSolicRec?: string }

/** Makes one, and shows a link to it. */
const making = (kind: Kind, bodyOf: (form: FormData) => object): Act['run'] =>
  sending('POST', `/pix/v2/${kind}`, bodyOf, ({ txid, idSolicRec: id = txid ?? '' }: Made) => (
    <>
      {w.made} <IdLink to={placeOf(kind, id)}>{id}</IdLink>
    </>
  ))

/** An immediate charge; the gateway chooses its txid. */
export const newChargeAct: Act = {
  title: w.newCharge,
  consequence: w.newChargeConsequence,
  fields: [
    { name: 'amount', label: w.amount },
    { name: 'key', label: w.key },
    { name: 'seconds', label: w.seconds, type: 'number', first: '3600' },
    { name: 'question', label: w.question, isFree: true },
  ],
  run: making('cob', (form) => ({
    calendario: { expiracao: Number(form.get('seconds')) },
    valor: { original: reaisIn(form) },
    chave: textIn(form, 'key'),
    ...given('solicitacaoPagador', textIn(form, 'question')),
  })),
}

/** Ends it with a new status, as the standard does. */
const endAct = (path: string, title: string, consequence: string, status: string): Act => ({
  title,
  consequence,
  run: sending('PATCH', path, () => ({ status })),
})

const pathOf = (kind: Kind, id: string): string => `/pix/v2/${kind}/${encodeURIComponent(id)}`

const cancel = (kind: Kind, id: string, title: string, consequence: string): Act =>
  endAct(pathOf(kind, id), title, consequence, 'CANCELADA')

const askAct = (idRec: string): Act => ({
  title: w.ask,
  consequence: fill(w.askConsequence, { id: idRec }),
  fields: [
    { name: 'tax_id', label: w.taxId },
    { name: 'ispb', label: w.payersIspb },
    { name: 'branch', label: w.payersBranch, isFree: true },
    { name: 'account', label: w.payersAccount },
    { name: 'day', label: w.answerBy, type: 'date', first: daysAgo(-2) },
  ],
  run: making('solicrec', (form) => {
    const taxId = textIn(form, 'tax_id').replaceAll(/[.\-/\s]/g, '')
    return {
      idRec,
      calendario: { dataExpiracaoSolicitacao: dayEnd(textIn(form, 'day')) },
      destinatario: {
        [taxId.length > 11 ? 'cnpj' : 'cpf']: taxId,
        ...given('agencia', textIn(form, 'branch')),
        conta: textIn(form, 'account'),
        ispbParticipante: textIn(form, 'ispb'),
      },
    }
  }),
})

const accountTypes = [
  ['CORRENTE', w.corrente],
  ['POUPANCA', w.poupanca],
  ['PAGAMENTO', w.pagamento],
] as const

const collectAct = ({ idRec = '', valor }: Told): Act => ({
  title: w.collect,
  consequence: fill(w.collectConsequence, { id: idRec }),
  fields: [
    {
      name: 'amount',
      label: w.amount,
      first: (typeof valor === 'object' && valor.valorRec) || '',
    },
    { name: 'day', label: w.due, type: 'date' },
    { name: 'branch', label: w.payersBranch, isFree: true },
    { name: 'account', label: w.creditedAccount },
    { name: 'type', label: w.accountType, choices: accountTypes },
  ],
  run: making('cobr', (form) => ({
    idRec,
    calendario: { dataDeVencimento: textIn(form, 'day') },
    valor: { original: reaisIn(form) },
    recebedor: {
      ...given('agencia', textIn(form, 'branch')),
      conta: textIn(form, 'account'),
      tipoConta: textIn(form, 'type'),
    },
  })),
})

const retryAct = (told: Told): Act => ({
  title: w.retry,
  consequence: fill(w.retryConsequence, { amount: amountOf(told) }),
  fields: [{ name: 'day', label: w.onDay, type: 'date', first: daysAgo(-1) }],
  run: sending('POST', (form) => {
    const day = encodeURIComponent(textIn(form, 'day'))
    return `${pathOf('cobr', told.txid ?? '')}/retentativa/${day}`
  }),
})

/** Takes a recurrence off its location. */
export const unlinkAct = ({ id = 0, idRec = '' }: Told): Act => ({
  title: w.unlink,
  consequence: fill(w.unlinkConsequence, { id: String(id), rec: idRec }),
  run: sending('DELETE', `${pathOf('locrec', String(id))}/idRec`),
})

/** The acts that its state allows; the API judges again. */
export const chargeActs = (kind: Kind, told: Told): readonly ScopedAct[] => {
  const { status = '', txid = '', idRec = '', idSolicRec = '' } = told
  switch (kind) {
    case 'cob':
    case 'cobv': {
      if (status !== 'ATIVA') return []
      const consequence = fill(w.removeConsequence, { id: txid, amount: amountOf(told) })
      const ended = 'REMOVIDA_PELO_USUARIO_RECEBEDOR'
      const act = endAct(pathOf(kind, txid), w.remove, consequence, ended)
      return [{ scope: `${kind}:write`, act }]
    }
    case 'rec': {
      const end = cancel(kind, idRec, w.endRecurrence, fill(w.cancelRecurrence, { id: idRec }))
      const ending = [{ scope: 'rec:write', act: end }]
      if (status === 'CRIADA') return [{ scope: 'solicrec:write', act: askAct(idRec) }, ...ending]
      if (status === 'APROVADA') return [{ scope: 'cobr:write', act: collectAct(told) }, ...ending]
      return []
    }
    case 'cobr': {
      if (status !== 'CRIADA' && status !== 'ATIVA') return []
      const consequence = fill(w.cancelCollection, { id: txid, amount: amountOf(told) })
      const end = { scope: 'cobr:write', act: cancel(kind, txid, w.endCollection, consequence) }
      const isTried = (told.tentativas ?? []).length > 0
      const mayRetry = isTried && told.politicaRetentativa !== 'NAO_PERMITE'
      return mayRetry ? [{ scope: 'cobr:write', act: retryAct(told) }, end] : [end]
    }
    case 'solicrec': {
      if (!['CRIADA', 'ENVIADA', 'RECEBIDA'].includes(status)) return []
      const act = cancel(kind, idSolicRec, w.endRequest, fill(w.cancelRequest, { id: idSolicRec }))
      return [{ scope: 'solicrec:write', act }]
    }
    default:
      return []
  }
}
