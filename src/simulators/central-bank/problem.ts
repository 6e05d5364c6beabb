/** The interface's error answers. */

const problems = {
  badRequest: [400, 'Requisição inválida'],
  invalidHeader: [400, 'Um dos cabeçalhos enviados não era esperado'],
  charset: [400, 'A codificação deve ser UTF-8'],
  forbidden: [403, 'Acesso negado'],
  notFound: [404, 'Recurso inexistente'],
  methodNotAllowed: [405, 'Método não permitido'],
  notAcceptable: [406, 'Formato de resposta não suportado'],
  gone: [410, 'O stream não existe mais'],
  lengthRequired: [411, 'Content-Length ou Transfer-Encoding é obrigatório'],
  payloadTooLarge: [413, 'Conteúdo grande demais'],
  unsupportedMediaType: [415, 'Formato de conteúdo não suportado'],
  tooManyRequests: [429, 'Limite excedido'],
  internalError: [500, 'Erro interno'],
  unavailable: [503, 'Serviço indisponível'],
} as const

export type ProblemName = keyof typeof problems

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
}

/** RFC 7807 in XML. */
export const problem = (
  name: ProblemName,
  headers: Readonly<Record<string, string>> = {},
): Answer => {
  const [status, title] = problems[name]
  return {
    status,
    headers: { 'Content-Type': 'application/problem+xml', ...headers },
    body: `<problem xmlns="urn:ietf:rfc:7807"><type>https://icom.pi.rsfn.net.br/api/v1/error/${name}</type><title>${title}</title><status>${status}</status></problem>`,
  }
}
