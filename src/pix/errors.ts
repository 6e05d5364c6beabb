import {
  ApiError,
  type DeclaredError,
  defineErrors,
  detailOf,
  type ErrorDefinition,
  type ErrorRenderer,
  portugueseViolation,
  problemContentType,
} from '#src/platform/http/index.ts'

/** One broken rule, as the API Pix tells of it. */
export type Violacao = {
  readonly razao: string
  /** Such as `cob.valor.original`. */
  readonly propriedade: string
  readonly valor?: string | undefined
}

/** Titles are the standard's, and so Portuguese in both languages. */
const invalid = (title: string, meaning: string, pt: string): DeclaredError => ({
  ...{ status: 400, title, meaning },
  remedy: 'Correct what violacoes names.',
  pt: { title, meaning: pt, remedy: 'Corrija o que violacoes indica.' },
})

const absent = (title: string, meaning: string, pt: string): DeclaredError => ({
  ...{ status: 404, title, meaning, remedy: 'Check the identifier.' },
  pt: { title, meaning: pt, remedy: 'Confira o identificador.' },
})

/** The errors of the API Pix 2.9.0 that this gateway gives. The code is the standard's name, spelt as ours are. */
export const pixErrors = defineErrors({
  acesso_negado: {
    status: 403,
    title: 'Acesso negado',
    meaning: 'The client may not do this, or the function is not offered.',
    remedy: 'Use a client with the scope named in detail, or leave the function out.',
    pt: {
      title: 'Acesso negado',
      meaning: 'O cliente não pode fazer isto, ou a função não é oferecida.',
      remedy: 'Use um cliente com o escopo indicado em detail, ou deixe a função de lado.',
    },
  },
  requisicao_invalida: invalid(
    'Requisição inválida.',
    'The request cannot be read.',
    'Não é possível ler a requisição.',
  ),
  nao_encontrado: absent('Não encontrado', 'There is no such thing.', 'Não há tal recurso.'),
  cob_nao_encontrado: absent(
    'Cobrança não encontrada',
    'The account has no charge of this txid.',
    'A conta não tem cobrança com este txid.',
  ),
  cob_operacao_invalida: invalid(
    'Cobrança inválida.',
    'The charge breaks a rule.',
    'A cobrança quebra uma regra.',
  ),
  cob_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter of the list breaks a rule.',
    'Um parâmetro da lista quebra uma regra.',
  ),
  cobv_nao_encontrada: absent(
    'Cobrança com vencimento não encontrada',
    'The account has no charge with a due date of this txid.',
    'A conta não tem cobrança com vencimento com este txid.',
  ),
  cobv_operacao_invalida: invalid(
    'Cobrança com vencimento inválida.',
    'The charge breaks a rule.',
    'A cobrança quebra uma regra.',
  ),
  cobv_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter of the list breaks a rule.',
    'Um parâmetro da lista quebra uma regra.',
  ),
  lote_cobv_nao_encontrado: absent(
    'Lote não encontrado',
    'The account has no batch of charges of this id.',
    'A conta não tem lote de cobranças com este id.',
  ),
  lote_cobv_operacao_invalida: invalid(
    'Lote de cobranças inválido.',
    'The batch breaks a rule.',
    'O lote quebra uma regra.',
  ),
  lote_cobv_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter breaks a rule.',
    'Um parâmetro quebra uma regra.',
  ),
  cob_payload_operacao_invalida: invalid(
    'Consulta do payload inválida.',
    'The charge is there, but a parameter breaks a rule.',
    'A cobrança existe, mas um parâmetro quebra uma regra.',
  ),
  cob_payload_nao_encontrado: absent(
    'Cobrança não encontrada',
    'The location shows no charge.',
    'A location não mostra cobrança.',
  ),
  payload_location_nao_encontrado: absent(
    'Location não encontrada',
    'No such location.',
    'Não há tal location.',
  ),
  payload_location_operacao_invalida: invalid(
    'Location inválida.',
    'The location breaks a rule.',
    'A location quebra uma regra.',
  ),
  payload_location_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter breaks a rule.',
    'Um parâmetro quebra uma regra.',
  ),
  payload_location_rec_nao_encontrado: absent(
    'Location não encontrada',
    'The account has no location of recurrences of this id.',
    'A conta não tem location de recorrência com este id.',
  ),
  payload_location_rec_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter of the list breaks a rule.',
    'Um parâmetro da lista quebra uma regra.',
  ),
  rec_payload_nao_encontrado: absent(
    'Recorrência não encontrada',
    'The location shows no recurrence.',
    'A location não apresenta recorrência.',
  ),
  rec_payload_operacao_invalida: invalid(
    'Recorrência encerrada.',
    'The recurrence of the location is expired, rejected or cancelled.',
    'A recorrência da location está expirada, rejeitada ou cancelada.',
  ),
  rec_nao_encontrada: absent(
    'Recorrência não encontrada',
    'The account has no recurrence of this idRec.',
    'A conta não tem recorrência com este idRec.',
  ),
  rec_operacao_invalida: invalid(
    'Recorrência inválida.',
    'The recurrence breaks a rule.',
    'A recorrência quebra uma regra.',
  ),
  rec_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter breaks a rule.',
    'Um parâmetro quebra uma regra.',
  ),
  solic_rec_nao_encontrada: absent(
    'Solicitação de recorrência não encontrada',
    'The account has no request of this idSolicRec.',
    'A conta não tem solicitação com este idSolicRec.',
  ),
  solic_rec_operacao_invalida: invalid(
    'Solicitação de recorrência inválida.',
    'The request to authorise a recurrence breaks a rule.',
    'A solicitação de recorrência quebra uma regra.',
  ),
  cobr_nao_encontrado: absent(
    'Cobrança recorrente não encontrada',
    'The account has no charge of a recurrence of this txid.',
    'A conta não tem cobrança recorrente com este txid.',
  ),
  cobr_operacao_invalida: invalid(
    'Cobrança recorrente inválida.',
    'The charge of a recurrence breaks a rule.',
    'A cobrança recorrente quebra uma regra.',
  ),
  cobr_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter breaks a rule.',
    'Um parâmetro quebra uma regra.',
  ),
  pix_nao_encontrado: absent(
    'Pix não encontrado',
    'The account has received no such Pix.',
    'A conta não recebeu este Pix.',
  ),
  pix_devolucao_nao_encontrada: absent(
    'Devolução não encontrada',
    'The Pix has no such return.',
    'O Pix não tem esta devolução.',
  ),
  pix_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter of the list breaks a rule.',
    'Um parâmetro da lista quebra uma regra.',
  ),
  pix_devolucao_invalida: invalid(
    'Devolução inválida.',
    'The return breaks a rule.',
    'A devolução quebra uma regra.',
  ),
  webhook_nao_encontrado: absent(
    'Webhook não encontrado',
    'The key has no webhook.',
    'A chave não tem webhook.',
  ),
  webhook_operacao_invalida: invalid(
    'Webhook inválido.',
    'The webhook breaks a rule.',
    'O webhook quebra uma regra.',
  ),
  webhook_rec_operacao_invalida: invalid(
    'Webhook inválido.',
    'The webhook of recurrences breaks a rule.',
    'O webhook de recorrências quebra uma regra.',
  ),
  webhook_cobr_operacao_invalida: invalid(
    'Webhook inválido.',
    'The webhook of recurring charges breaks a rule.',
    'O webhook de cobranças recorrentes quebra uma regra.',
  ),
  webhook_consulta_invalida: invalid(
    'Consulta inválida.',
    'A parameter of the list breaks a rule.',
    'Um parâmetro da lista quebra uma regra.',
  ),
})

/** @param violacoes at least one */
export const violates = (definition: ErrorDefinition, violacoes: readonly Violacao[]): ApiError =>
  new ApiError(definition, violacoes[0]?.razao ?? '', { details: { violacoes } })

const typePrefix = 'https://pix.bcb.gov.br/api/v2/error/'

const ownCodes: ReadonlySet<string> = new Set(Object.keys(pixErrors))

const capitals: Readonly<Record<string, string>> = { cobv: 'CobV', cobr: 'CobR' }

/** `cob_nao_encontrado` is CobNaoEncontrado, `cobv` CobV and `cobr` CobR. */
const nameOf = ({ code, status }: ErrorDefinition): string =>
  ownCodes.has(code)
    ? code
        .split('_')
        .map((word) => capitals[word] ?? word.charAt(0).toUpperCase() + word.slice(1))
        .join('')
    : generalName(status)

/** The name of what may happen to any request. */
const generalName = (status: number): string => {
  if (status === 401 || status === 403) return 'AcessoNegado'
  if (status === 404) return 'NaoEncontrado'
  if (status === 410) return 'PermanentementeRemovido'
  if (status === 504) return 'IndisponibilidadePorTempoEsgotado'
  if (status === 429 || status === 503) return 'ServicoIndisponivel'
  return status >= 500 ? 'ErroInternoDoServidor' : 'RequisicaoInvalida'
}

/** `Problema` of the standard: RFC 7807, with `violacoes`. It is in Portuguese whatever language was asked for. */
export const problemOf = (error: ApiError) => {
  const { definition, details, errors } = error
  const { status } = definition
  const { title } = definition.pt
  // What these routes say of themselves is Portuguese already; what every route says is not.
  const detail = ownCodes.has(definition.code) ? error.message : detailOf(error, 'pt-BR')
  const violacoes =
    details['violacoes'] ??
    errors.map((one) => ({ razao: portugueseViolation(one), propriedade: one.pointer }))
  const isListed = Array.isArray(violacoes) && violacoes.length > 0
  return {
    ...{ type: typePrefix + nameOf(definition), title, status, detail },
    ...(isListed ? { violacoes } : {}),
  }
}

/** Problems as the API Pix has them. */
export const renderPixError: ErrorRenderer = (error, requestId) => {
  const body = { ...problemOf(error), correlationId: requestId }
  return new Response(JSON.stringify(body), {
    status: body.status,
    headers: { 'Content-Type': problemContentType, ...error.headers },
  })
}

/** The errors of the operator's endpoints, which are not in the standard. */
export const receiverErrors = defineErrors({
  pix_key_of_another_account: {
    status: 409,
    title: 'Pix key of another account',
    meaning: 'Another account charges with the key.',
    remedy: 'Remove the key from that account first.',
    pt: {
      title: 'Chave Pix de outra conta',
      meaning: 'Outra conta cobra com a chave.',
      remedy: 'Remova antes a chave dessa conta.',
    },
  },
})
