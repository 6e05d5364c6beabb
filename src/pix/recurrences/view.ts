import { buildCompositeBrCode } from '#codecs/brcode'
import { merchantOf, payloadPath } from '../charges/view.ts'
import {
  cancelledByReceiver,
  endedStatuses,
  type Recurrence,
  type RecurrenceLocation,
} from './domain.ts'

/** Where the payloads of recurrences are, without a scheme, as QR codes hold it. */
export type RecurrenceAddress = (location: Pick<RecurrenceLocation, 'token'>) => string

export const recurrenceAddressOn =
  (host: string): RecurrenceAddress =>
  ({ token }) =>
    `${host}${payloadPath}/rec/${token}`

/** `tipo` is required by the standard, though it describes no such member. */
export const recurrenceLocationView = (
  { id, recurrenceId, createdAt, token }: RecurrenceLocation,
  addressOf: RecurrenceAddress,
) => ({
  id: Number(id),
  ...(recurrenceId === null ? {} : { idRec: recurrenceId }),
  location: addressOf({ token }),
  tipo: 'rec',
  criacao: createdAt.toISOString(),
})

/** What the receiver's answers and the payload have alike. */
const termsView = ({ terms }: Recurrence) => ({
  vinculo: {
    contrato: terms.contract,
    ...(terms.object === undefined ? {} : { objeto: terms.object }),
    devedor: terms.debtor,
  },
  calendario: {
    dataInicial: terms.startsOn,
    ...(terms.endsOn === undefined ? {} : { dataFinal: terms.endsOn }),
    periodicidade: terms.period,
  },
  ...(terms.amount === undefined ? {} : { valor: { valorRec: terms.amount } }),
  ...(terms.minimum === undefined ? {} : { valor: { valorMinimoRecebedor: terms.minimum } }),
  politicaRetentativa: terms.retries,
})

/** The ending; a recurrence that ended before endings were kept was ended by its receiver. */
const endingView = ({ status, ending }: Recurrence) => {
  if (ending !== null) return { encerramento: ending }
  return status === 'CANCELADA' ? { encerramento: cancelledByReceiver } : {}
}

const historyView = ({ id, history }: Recurrence) => ({ idRec: id, atualizacao: history })

/** The standing of a recurrence, as its webhook is told. */
export const standingView = (recurrence: Recurrence) => {
  const { status, terms, journey } = recurrence
  const { firstTxid } = terms
  return {
    ...historyView(recurrence),
    status,
    ...endingView(recurrence),
    ativacao: {
      tipoJornada: journey ?? 'AGUARDANDO_DEFINICAO',
      ...(firstTxid === undefined ? {} : { dadosJornada: { txid: firstTxid } }),
    },
  }
}

const payerView = ({ payer }: Recurrence) => {
  if (payer === null) return {}
  const { taxId, ispb, town } = payer
  const person = taxId.length === 11 ? { cpf: taxId } : { cnpj: taxId }
  const place = town === null ? {} : { codMun: town }
  return { pagador: { ...person, ispbParticipante: ispb, ...place } }
}

export const recurrenceView = (recurrence: Recurrence, addressOf: RecurrenceAddress) => {
  const { taxId, receiverName, agreement, location } = recurrence
  return {
    ...termsView(recurrence),
    ...standingView(recurrence),
    ...payerView(recurrence),
    recebedor: {
      cnpj: taxId,
      nome: receiverName,
      ...(agreement === null ? {} : { convenio: agreement }),
    },
    ...(location === undefined ? {} : { loc: recurrenceLocationView(location, addressOf) }),
  }
}

/** @param ispb ours */
export const recurrencePayload = (recurrence: Recurrence, ispb: string) => ({
  ...termsView(recurrence),
  ...historyView(recurrence),
  recebedor: { cnpj: recurrence.taxId, nome: recurrence.receiverName, ispbParticipante: ispb },
})

/** The charge that a composite code asks to pay as well; undefined address: it has no location. */
export type CodeCharge = { readonly kind: 'cob' | 'cobv'; readonly address: string | undefined }

/** `dadosQR`; undefined where there is nothing that a code could point to. */
export const codeView = (
  { status, location }: Recurrence,
  addressOf: RecurrenceAddress,
  receiver: { readonly name: string; readonly city: string } | undefined,
  charge: CodeCharge | undefined,
) => {
  if (location === undefined || receiver === undefined || endedStatuses.has(status))
    return undefined
  if (charge !== undefined && charge.address === undefined) return undefined
  const text = buildCompositeBrCode({
    recurrenceUrl: addressOf(location),
    ...(charge === undefined ? {} : { url: charge.address }),
    ...merchantOf(receiver),
  })
  const journey = charge === undefined ? 2 : charge.kind === 'cob' ? 3 : 4
  return { jornada: `JORNADA_${journey}`, pixCopiaECola: text }
}
