import { inWords } from './words.ts'

/** What is said of a transaction on a chain. */
export const chainWords = inWords({
  onChain: ['On the chain', 'Na cadeia'],
  proven: ['proven by its block', 'provada pelo bloco'],
  unproven: ['not proven by its block', 'não provada pelo bloco'],
  argument: ['Argument', 'Argumento'],
  from: ['Signed by', 'Assinada por'],
  to: ['To', 'Para'],
  deploys: ['deploys a contract', 'implanta um contrato'],
  unknown: ['of an unknown form', 'de forma desconhecida'],
  nonce: ['Nonce', 'Nonce'],
  block: ['Block', 'Bloco'],
  confirmations: ['Confirmations', 'Confirmações'],
  gas: ['Gas', 'Gas'],
  unknownCall: ['no known ABI explains this call', 'nenhuma ABI conhecida explica esta chamada'],
  unknownEvent: ['no known ABI explains this event', 'nenhuma ABI conhecida explica este evento'],
  more: ['{count} more events are not shown.', 'Mais {count} eventos não são mostrados.'],
})
