import { formatCents } from '#codecs/iso20022'
import type { Payee } from '../receivers/domain.ts'
import type { Dues } from './arithmetic.ts'
import type { DueTerms, Part } from './domain.ts'

const partView = ({ mode, value }: Part) => ({ modalidade: mode, valorPerc: value })

/** `valor` of a charge with a due date, as it was asked for. */
export const dueValuesView = (originalCents: bigint, due: DueTerms) => {
  const { fine, interest, rebate, discount } = due
  return {
    original: formatCents(originalCents),
    ...(fine && { multa: partView(fine) }),
    ...(interest && { juros: partView(interest) }),
    ...(rebate && { abatimento: partView(rebate) }),
    ...(discount && {
      desconto: {
        modalidade: discount.mode,
        ...(discount.steps && {
          descontoDataFixa: discount.steps.map(({ until, value }) => ({
            data: until,
            valorPerc: value,
          })),
        }),
        ...(discount.value !== undefined && { valorPerc: discount.value }),
      },
    }),
  }
}

/** What the charge comes to on a day, without the parts that are zero. */
export const duesView = (originalCents: bigint, dues: Dues) => {
  const { rebateCents, discountCents, interestCents, fineCents, finalCents } = dues
  const shown = (name: string, cents: bigint) =>
    cents === 0n ? {} : { [name]: formatCents(cents) }
  return {
    original: formatCents(originalCents),
    ...shown('multa', fineCents),
    ...shown('juros', interestCents),
    ...shown('abatimento', rebateCents),
    ...shown('desconto', discountCents),
    final: formatCents(finalCents),
  }
}

/** Who is paid. */
export const receiverView = ({ taxId, name, street, city, state, postalCode }: Payee) => ({
  ...(taxId.length === 11 ? { cpf: taxId } : { cnpj: taxId }),
  nome: name,
  ...(street === null ? {} : { logradouro: street }),
  cidade: city,
  ...(state === null ? {} : { uf: state }),
  ...(postalCode === null ? {} : { cep: postalCode }),
})

/** The same as a Pix is shown with. */
export const componentsView = (originalCents: bigint, dues: Dues) => {
  const { final: _, ...parts } = duesView(originalCents, dues)
  return Object.fromEntries(Object.entries(parts).map(([name, valor]) => [name, { valor }]))
}
