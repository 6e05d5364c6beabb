import { formatCents } from '#codecs/iso20022'
import { dayAt } from '#src/platform/runtime/index.ts'
import type { Pix } from '../received/domain.ts'
import { pixView } from '../received/view.ts'
import type { Recurrence } from '../recurrences/domain.ts'
import { type Attempt, type Collection, rejectionOf } from './domain.ts'

const attemptView = ({ endToEndId, kind, settlesOn, status, reason, history }: Attempt) => ({
  dataLiquidacao: settlesOn,
  tipo: kind,
  endToEndId,
  status,
  atualizacao: history,
  ...(reason === null ? {} : { rejeicao: rejectionOf(reason) }),
})

/** The standing of a charge, as its webhook is told. @param paid the Pix of its attempts */
export const standingView = (
  { recurrenceId, txid, status, history, ending, attempts }: Collection,
  paid: readonly Pix[],
) => ({
  idRec: recurrenceId,
  txid,
  status,
  atualizacao: history,
  ...(attempts.length === 0 ? {} : { tentativas: attempts.map(attemptView) }),
  ...(ending === null ? {} : { encerramento: ending }),
  ...(paid.length === 0 ? {} : { pix: paid.map(pixView) }),
})

/** @param paid the Pix of its attempts */
export const collectionView = (
  collection: Collection,
  { terms, receiverName, agreement }: Recurrence,
  paid: readonly Pix[],
) => {
  const { dueOn, amountCents, content, createdAt, taxId } = collection
  return {
    ...standingView(collection, paid),
    ...(content.info === undefined ? {} : { infoAdicional: content.info }),
    calendario: { criacao: dayAt(createdAt), dataDeVencimento: dueOn },
    valor: { original: formatCents(amountCents) },
    ajusteDiaUtil: content.adjusts,
    politicaRetentativa: terms.retries,
    ...(content.debtor === undefined ? {} : { devedor: content.debtor }),
    recebedor: {
      cnpj: taxId,
      nome: receiverName,
      ...(agreement === null ? {} : { convenio: agreement }),
      ...content.credited,
    },
  }
}
