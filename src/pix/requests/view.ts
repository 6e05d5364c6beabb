import type { Recurrence } from '../recurrences/domain.ts'
import { recurrencePayload } from '../recurrences/view.ts'
import type { RecurrenceRequest } from './domain.ts'

/** @param ispb ours */
export const requestView = (
  { id, recurrenceId, status, recipient, history, expiresAt }: RecurrenceRequest,
  recurrence: Recurrence,
  ispb: string,
) => ({
  idSolicRec: id,
  idRec: recurrenceId,
  calendario: { dataExpiracaoSolicitacao: expiresAt.toISOString() },
  status,
  destinatario: recipient,
  atualizacao: history,
  recPayload: recurrencePayload(recurrence, ispb),
})
