import { inWords } from './words.ts'

/** The texts of the screen of API keys. */
export const keyWords = inWords({
  keys: ['API keys', 'Chaves de API'],
  intro: [
    'Of this account, newest first. The gateway keeps no key, only its hash.',
    'Desta conta, as mais novas primeiro. O gateway não guarda chaves, apenas o hash.',
  ],
  none: ['The database holds no key of this account.', 'O banco não tem chaves desta conta.'],
  name: ['Name', 'Nome'],
  nameHint: ['Who it is for.', 'Para quem é.'],
  scopes: ['Scopes', 'Escopos'],
  scopesHint: [
    'One a line; a whole feature as cards:*. None that your own key lacks.',
    'Um por linha; um recurso inteiro como cards:*. Nenhum que falte à sua própria chave.',
  ],
  state: ['State', 'Situação'],
  created: ['Created', 'Criada'],
  used: ['Last used', 'Último uso'],
  never: ['never', 'nunca'],
  own: ['this session', 'esta sessão'],
  active: ['active', 'ativa'],
  expired: ['expired', 'vencida'],
  revoked: ['revoked', 'revogada'],
  until: ['until {day}', 'até {day}'],
  formerUntil: ['former secret until {day}', 'segredo anterior até {day}'],
  create: ['New key', 'Nova chave'],
  createConsequence: [
    'Whoever holds the key acts for the account {account}, as far as its scopes and restrictions go, until it expires or is revoked. It is shown once.',
    'Quem tiver a chave age pela conta {account}, até onde vão os escopos e as restrições, até que ela vença ou seja revogada. Ela é mostrada uma vez.',
  ],
  expiry: ['Expires', 'Vence'],
  expiryHint: ['Empty: never.', 'Em branco: nunca.'],
  expiryKept: ['Empty: as it is.', 'Em branco: como está.'],
  restrictions: ['Restrictions', 'Restrições'],
  merchants: ['Only these merchants', 'Só estes estabelecimentos'],
  wallets: ['Only these wallets', 'Só estas carteiras'],
  addresses: ['Only from these addresses', 'Só destes endereços'],
  listHint: ['One a line; empty: all.', 'Um por linha; em branco: todos.'],
  rate: ['Requests a second', 'Requisições por segundo'],
  rateHint: ['Empty: as many as any key.', 'Em branco: tantas quanto qualquer chave.'],
  readOnly: ['Reads only', 'Só leitura'],
  ownWebhooks: [
    'Only webhook endpoints that it makes itself',
    'Só endpoints de webhook que ela mesma cria',
  ],
  once: [
    'This is the key. It is shown only now: copy it and keep it safe.',
    'Esta é a chave. Ela é mostrada só agora: copie-a e guarde-a bem.',
  ],
  copy: ['Copy the key', 'Copiar a chave'],
  restrict: ['Restrict', 'Restringir'],
  restrictConsequence: [
    'Within five seconds the key {name} may do what is named here and nothing else of its scopes. What stood here before and is taken out is lifted.',
    'Em cinco segundos a chave {name} poderá o que está aqui e nada mais de seus escopos. O que estava aqui e for retirado deixa de valer.',
  ],
  rotate: ['Rotate', 'Trocar'],
  rotateConsequence: [
    'The key {name} gets a new secret. The one in use stops when the time below is over: until then whoever uses it must have the new one.',
    'A chave {name} recebe um novo segredo. O atual deixa de valer quando o prazo abaixo terminar: até lá, quem o usa precisa ter o novo.',
  ],
  rotateOwn: [
    'You are signed in with this key: sign in again with the new one.',
    'Você entrou com esta chave: entre de novo com a nova.',
  ],
  overlap: ['The former secret counts for', 'O segredo anterior vale por'],
  overlapNone: ['no time: it stops now', 'tempo nenhum: deixa de valer já'],
  revoke: ['Revoke', 'Revogar'],
  revokeConsequence: [
    'Within five seconds every request with the key {name} is refused, for good. What it made stays.',
    'Em cinco segundos toda requisição com a chave {name} é recusada, de vez. O que ela criou permanece.',
  ],
  revokeOwn: [
    'You are signed in with this key: the session ends with it.',
    'Você entrou com esta chave: a sessão termina com ela.',
  ],
})
