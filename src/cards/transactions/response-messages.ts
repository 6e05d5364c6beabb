/** In English and in Portuguese. */
const messages: Readonly<Record<string, readonly [string, string]>> = {
  '00': ['Approved', 'Aprovada'],
  '01': ['Contact the issuer', 'Contate o emissor'],
  '05': ['Not authorized', 'Não autorizada'],
  '10': ['Approved for a part', 'Aprovada em parte'],
  '14': ['Invalid card', 'Cartão inválido'],
  '51': ['Insufficient funds', 'Saldo insuficiente'],
  '54': ['Expired card', 'Cartão vencido'],
  '55': ['Invalid PIN', 'Senha incorreta'],
  '57': ['Transaction not permitted', 'Transação não permitida'],
  '85': ['No reason to decline', 'Sem motivo para recusar'],
  '91': ['Issuer unavailable', 'Emissor indisponível'],
  '96': ['System error', 'Erro de sistema'],
}

const otherwise = ['Declined', 'Recusada'] as const

const messagesOf = (code: string): readonly [string, string] =>
  (Object.hasOwn(messages, code) ? messages[code] : undefined) ?? otherwise

/** DE 39 in words. */
export const responseMessageOf = (code: string): string => messagesOf(code)[0]

/** DE 39 in words of Portuguese. */
export const portugueseMessageOf = (code: string): string => messagesOf(code)[1]
