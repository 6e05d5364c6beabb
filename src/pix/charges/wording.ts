import type { ApiError, ErrorDefinition } from '#src/platform/http/index.ts'
import { pixErrors, type Violacao, violates } from '../errors.ts'
import type { ChargeKind } from './domain.ts'

/** What the standard says otherwise of the two kinds of charges. */
export type Wording = {
  readonly kind: ChargeKind
  readonly absent: ErrorDefinition
  readonly query: ErrorDefinition
  readonly refuse: (...violacoes: readonly Violacao[]) => ApiError
}

export const wordings: Readonly<Record<ChargeKind, Wording>> = {
  cob: {
    kind: 'cob',
    absent: pixErrors.cob_nao_encontrado,
    query: pixErrors.cob_consulta_invalida,
    refuse: (...violacoes) => violates(pixErrors.cob_operacao_invalida, violacoes),
  },
  cobv: {
    kind: 'cobv',
    absent: pixErrors.cobv_nao_encontrada,
    query: pixErrors.cobv_consulta_invalida,
    refuse: (...violacoes) => violates(pixErrors.cobv_operacao_invalida, violacoes),
  },
}
