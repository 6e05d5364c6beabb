import { inWords } from './words.ts'

/** The texts of the forms of digital currency. */
export const makeWords = inWords({
  transfer: ['New transfer', 'Nova transferência'],
  transferConsequence: [
    '{amount} goes from {from_wallet} to {to_wallet}. Once its block is deep enough nobody takes it back.',
    '{amount} vai de {from_wallet} para {to_wallet}. Quando o bloco for profundo o bastante, ninguém desfaz.',
  ],
  contract: ['Deploy a contract', 'Implantar contrato'],
  contractConsequence: [
    'A contract of the template {kind} is put on the chain, where it stays for good.',
    'Um contrato do modelo {kind} é posto na cadeia, onde fica para sempre.',
  ],
  registration: ['Register a contract', 'Registrar contrato'],
  registrationConsequence: [
    'The gateway learns the ABI of a contract that is there already. Nothing happens on the chain.',
    'O gateway passa a conhecer a ABI de um contrato que já existe. Nada acontece na cadeia.',
  ],
  operation: ['New operation', 'Nova operação'],
  operationConsequence: [
    '{kind} is signed by {signer_wallet} and sent. What it changes on the chain cannot be taken back.',
    '{kind} é assinada por {signer_wallet} e enviada. O que muda na cadeia não se desfaz.',
  ],
  delivery: ['New delivery', 'Nova entrega'],
  deliveryConsequence: [
    'As {part} of operation {operation_id}: bonds and money change hands once both sides have agreed on the chain, in one step.',
    'Como {part} da operação {operation_id}: títulos e dinheiro trocam de mãos quando os dois lados concordarem na cadeia, de uma vez.',
  ],
  lien: ['Pledge', 'Dar em garantia'],
  lienConsequence: [
    '{amount} of {owner_wallet} is out of its reach until {beneficiary} lets go of it, or it ends.',
    '{amount} de {owner_wallet} fica fora do seu alcance até {beneficiary} liberar ou até vencer.',
  ],
  choose: ['Kind', 'Tipo'],
  review: ['Review', 'Revisar'],
  request: ['What is asked of the API', 'O que se pede à API'],
  made: ['Taken: follow it here', 'Aceito: acompanhe aqui'],
  abi: ['ABI, as JSON', 'ABI, em JSON'],
  operations: ['Operations', 'Operações'],
  noOperations: [
    'No operation of the network’s own contracts yet.',
    'Nenhuma operação dos contratos da própria rede ainda.',
  ],
})
