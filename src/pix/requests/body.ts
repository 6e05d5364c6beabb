import { z } from 'zod'
import { cnpjForm, cpfForm, ispbForm } from '#codecs/taxpayer'
import { instant } from '#src/platform/http/index.ts'
import { bodyReader, pixErrors, type Violacao, violates } from '../errors.ts'
import type { Recipient } from './domain.ts'

const recipient = z
  .object({
    cpf: z.string().regex(cpfForm).optional(),
    cnpj: z.string().regex(cnpjForm).optional(),
    // The SPI takes digits alone.
    conta: z.string().regex(/^\d{1,20}$/),
    agencia: z
      .string()
      .regex(/^\d{1,4}$/)
      .optional(),
    ispbParticipante: z.string().regex(ispbForm),
  })
  .refine(({ cpf, cnpj }) => (cpf === undefined) !== (cnpj === undefined))

const newRequest = z.object({
  idRec: z.string().regex(/^[a-zA-Z0-9]{29}$/),
  calendario: z.object({ dataExpiracaoSolicitacao: instant }),
  destinatario: recipient,
})

const revisedRequest = z.object({ status: z.literal('CANCELADA') })

export const refuseRequest = (...violacoes: readonly Violacao[]) =>
  violates(pixErrors.solic_rec_operacao_invalida, violacoes)

const read = bodyReader('solicrec', ['idRec', 'status'], refuseRequest)

export type NewRequest = {
  readonly recurrenceId: string
  readonly expiresAt: Date
  readonly recipient: Recipient
}

/** @throws ApiError `solic_rec_operacao_invalida`, with every member that does not fit */
export const readNewRequest = (value: unknown): NewRequest => {
  const { idRec, calendario, destinatario } = read(newRequest, value)
  return {
    recurrenceId: idRec,
    recipient: destinatario,
    expiresAt: calendario.dataExpiracaoSolicitacao,
  }
}

/** The only thing that may be revised is that it is taken back. @throws ApiError as {@link readNewRequest} */
export const readCancellation = (value: unknown): void => {
  read(revisedRequest, value)
}
