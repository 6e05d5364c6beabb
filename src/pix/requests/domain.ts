import type { Payer, Step } from '../recurrences/domain.ts'

export type RequestStatus =
  | 'CRIADA'
  | 'ENVIADA'
  | 'RECEBIDA'
  | 'ACEITA'
  | 'REJEITADA'
  | 'EXPIRADA'
  | 'CANCELADA'

/** Statuses of requests that still wait for the payer; a recurrence has at most one such request. */
export const liveStatuses: ReadonlySet<RequestStatus> = new Set(['CRIADA', 'ENVIADA', 'RECEBIDA'])

/** `destinatario`: the payer's account, where he is asked. */
export type Recipient = {
  readonly cpf?: string | undefined
  readonly cnpj?: string | undefined
  readonly conta: string
  readonly agencia?: string | undefined
  readonly ispbParticipante: string
}

/** A request to a payer to authorise a recurrence (`solicrec`). */
export type RecurrenceRequest = {
  /** idSolicRec. */
  readonly id: string
  readonly account: string
  readonly recurrenceId: string
  readonly status: RequestStatus
  readonly recipient: Recipient
  readonly history: readonly Step<RequestStatus>[]
  readonly expiresAt: Date
  readonly createdAt: Date
}

export const payerOf = ({ cpf, cnpj, conta, agencia, ispbParticipante }: Recipient): Payer => ({
  taxId: cpf ?? cnpj ?? '',
  ispb: ispbParticipante,
  account: conta,
  branch: agencia ?? null,
  town: null,
})
