import { z } from 'zod'
import { text } from '#src/platform/http/index.ts'
import { type Day, isDay } from '#src/platform/runtime/index.ts'
import { amount } from '../charges/body.ts'

import { bodyReader, pixErrors, type Violacao, violates } from '../errors.ts'
import { centsOf } from '../money.ts'
import { shownText } from '../shown-text.ts'
import type { CollectionContent } from './domain.ts'

const infoCharsMax = 140
const contactCharsMax = 200

const contact = z.object({
  email: text(contactCharsMax).optional(),
  logradouro: text(contactCharsMax).optional(),
  cidade: text(contactCharsMax).optional(),
  uf: text(2).optional(),
  // Written with and without a hyphen in the standard's own examples.
  cep: z
    .string()
    .regex(/^\d{5}-?\d{3}$/)
    .transform((code) => code.replace('-', ''))
    .optional(),
})

const newCollection = z.object({
  idRec: z.string().regex(/^[a-zA-Z0-9]{29}$/),
  infoAdicional: shownText(infoCharsMax).optional(),
  calendario: z.object({ dataDeVencimento: z.string().refine(isDay) }),
  valor: z.object({ original: amount.regex(/[1-9]/) }),
  ajusteDiaUtil: z.boolean().default(true),
  devedor: contact.optional(),
  recebedor: z.object({
    // The SPI takes digits alone.
    conta: z.string().regex(/^\d{1,20}$/),
    agencia: z
      .string()
      .regex(/^\d{1,4}$/)
      .optional(),
    tipoConta: z.enum(['CORRENTE', 'POUPANCA', 'PAGAMENTO']),
  }),
})

const revisedCollection = z.object({ status: z.literal('CANCELADA') })

export const refuseCollection = (...violacoes: readonly Violacao[]) =>
  violates(pixErrors.cobr_operacao_invalida, violacoes)

const fields = ['idRec', 'infoAdicional', 'valor', 'status', 'ajusteDiaUtil']
const read = bodyReader('cobr', fields, refuseCollection)

export type NewCollection = {
  readonly recurrenceId: string
  readonly dueOn: Day
  readonly amountCents: bigint
  readonly content: CollectionContent
}

/** @throws ApiError `cobr_operacao_invalida`, with every member that does not fit */
export const readNewCollection = (value: unknown): NewCollection => {
  const given = read(newCollection, value)
  return {
    recurrenceId: given.idRec,
    dueOn: given.calendario.dataDeVencimento,
    amountCents: centsOf(given.valor.original),
    content: {
      info: given.infoAdicional,
      debtor: given.devedor,
      credited: given.recebedor,
      adjusts: given.ajusteDiaUtil,
    },
  }
}

/** The only thing that may be revised is that it is cancelled. @throws ApiError as {@link readNewCollection} */
export const readCancelled = (value: unknown): void => {
  read(revisedCollection, value)
}
