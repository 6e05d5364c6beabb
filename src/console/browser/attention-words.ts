import { inWords } from './words.ts'

/** The texts of the screen "Needs attention". */
export const attentionWords = inWords({
  attention: ['Needs attention', 'Requer atenção'],
  intro: [
    'What the gateway cannot end by itself. A zero is in order.',
    'O que o gateway não encerra sozinho. Zero está em ordem.',
  ],
  parts: ['Parts that are not in order', 'Partes que não estão em ordem'],
  partsNote: [
    'Each mends itself once its cause is gone. What waits for a counterparty that refuses us access goes out by itself when it grants access again: mend the certificate or the admission.',
    'Cada uma se recupera quando a causa some. O que espera por uma contraparte que recusa nosso acesso sai sozinho quando ela o concede de novo: corrija o certificado ou a admissão.',
  ],
  part: ['Part', 'Parte'],
  cause: ['Cause', 'Causa'],
  unknown: ['Pix without an answer', 'Pix sem resposta'],
  unknownNote: [
    'The same message is sent again by itself for a day; the central bank recognises it. Only an explicit answer ends it, or, after that day, a person who has asked the central bank.',
    'A mesma mensagem é reenviada automaticamente por um dia; o Banco Central a reconhece. Só uma resposta explícita a encerra ou, passado esse dia, uma pessoa que perguntou ao Banco Central.',
  ],
  resend: ['Send again now', 'Reenviar agora'],
  resendConsequence: [
    'The same bytes of {id} go to the central bank once more. It recognises them and answers as it would have the first time: nothing is paid twice.',
    'Os mesmos bytes de {id} vão ao Banco Central mais uma vez. Ele os reconhece e responde como na primeira vez: nada é pago em dobro.',
  ],
  resolveMessage: ['Tell its end', 'Informar o desfecho'],
  resolveMessageConsequence: [
    '{id} ends as chosen, with all that its answer would have caused. Ask the central bank first: what is told to be refused may be paid again. If it says otherwise later, that counts. What has several payments or returns only the central bank ends: ask its desk to send the entries. A request for a mandate or charge cannot be told to be refused, nor a reply so that a received payment settled.',
    '{id} termina como escolhido, com tudo o que a resposta teria causado. Pergunte antes ao Banco Central: o que se informa recusado pode ser pago de novo. Se ele disser outra coisa depois, vale o que ele disser. O que tem vários pagamentos ou devoluções só o Banco Central encerra: peça ao atendimento dele que envie os lançamentos. Um pedido de autorização ou cobrança não se informa recusado, nem uma resposta de modo que um pagamento recebido esteja liquidado.',
  ],
  messageOutcome: ['What the central bank confirmed', 'O que o Banco Central confirmou'],
  resent: [
    'It goes out within seconds; the history of the message tells what came of it.',
    'Sai em segundos; o histórico da mensagem diz o que resultou.',
  ],
  cards: ['Cards: reversals never confirmed', 'Cartões: desfazimentos não confirmados'],
  cardsNote: [
    'Ask the network what became of it, then write down what it said.',
    'Pergunte à rede o que aconteceu e registre a resposta.',
  ],
  resolve: ['Resolve', 'Resolver'],
  resolveConsequence: [
    'Transaction {id} of {amount} ends in the chosen state for good, and the gateway stops asking the network. Choose what the network has confirmed.',
    'A transação {id} de {amount} termina de vez na situação escolhida, e o gateway deixa de perguntar à rede. Escolha o que a rede confirmou.',
  ],
  resolveHeldConsequence: [
    'Transaction {id} of {amount} was under way when the copy was made that the database was restored from. Choose what the file of the network says. If it is to be voided, or as it was before, the gateway sends a reversal until the network confirms it.',
    'A transação {id} de {amount} estava em curso quando se fez a cópia da qual o banco de dados foi restaurado. Escolha o que diz o arquivo da rede. Se for para ficar desfeita, ou como estava antes, o gateway envia um desfazimento até que a rede o confirme.',
  ],
  outcome: ['What the network confirmed', 'O que a rede confirmou'],
  reason: ['Who confirmed it, and where that is noted', 'Quem confirmou e onde está registrado'],
  resolved: ['It is now {status}.', 'Situação agora: {status}.'],
  transfers: ['Digital currency: sent, not mined', 'Moeda digital: enviadas, não mineradas'],
  transfersNote: [
    'Sent more than ten minutes ago. The gateway goes on sending the same, for a higher fee where there are fees; only there can it still be taken back. Elsewhere have its lane sent again at once, below.',
    'Enviadas há mais de dez minutos. O gateway continua reenviando a mesma transação, com taxa maior onde há taxas; só nessas redes ainda é possível cancelar. Nas demais, reenvie já a fila da carteira, abaixo.',
  ],
  lanes: ['Digital currency: lanes held up', 'Moeda digital: filas paradas'],
  lanesNote: [
    'What was open first has been so for more than ten minutes, and all that the wallet sends waits for it.',
    'O mais antigo está aberto há mais de dez minutos, e tudo o que a carteira envia espera por ele.',
  ],
  waitsFor: ['Waits for', 'Espera por'],
  resendLaneConsequence: [
    'What {wallet} has in flight, {count} open, goes to the nodes once more, at most {most} on each network: the same bytes at the same nonces, for a higher fee where there are fees. Of each nonce the chain takes one: nothing is paid twice.',
    'O que {wallet} tem em curso, {count} em aberto, vai aos nós mais uma vez, no máximo {most} em cada rede: os mesmos bytes nos mesmos nonces, com taxa maior onde há taxas. De cada nonce a cadeia aceita um: nada é pago em dobro.',
  ],
  resentLane: [
    'Going out within seconds: {count}. The transfer tells what came of it.',
    'Saem em segundos: {count}. A transferência diz o que resultou.',
  ],
  cancel: ['Take back', 'Cancelar transferência'],
  cancelConsequence: [
    'The transfer of {amount} from {from} to {to} on {network} is not signed yet: it ends here, and nothing is sent.',
    'A transferência de {amount} de {from} para {to} em {network} ainda não foi assinada: termina aqui, e nada é enviado.',
  ],
  cancelSignedConsequence: [
    'An empty transaction takes the place of the transfer of {amount} from {from} to {to} on {network}. The chain decides which of the two counts.',
    'Uma transação vazia toma o lugar da transferência de {amount} de {from} para {to} em {network}. A cadeia decide qual das duas vale.',
  ],
  approvals: ['Digital currency: waiting for approval', 'Moeda digital: aguardando aprovação'],
  approvalsNote: [
    'Held by the policy of their wallet until another key of the account approves them; what nobody approves in time ends by itself. What has waited longest comes first.',
    'Retidas pela política da carteira até que outra chave da conta as aprove; o que ninguém aprova a tempo termina sozinho. A que espera há mais tempo vem primeiro.',
  ],
  requestedBy: ['Requested by', 'Pedida por'],
  thisKey: ['this key, which cannot approve it', 'esta chave, que não pode aprová-la'],
  approve: ['Approve', 'Aprovar'],
  approveConsequence: [
    'The transfer of {amount} from {from} to {to} on {network}, held by the policy of its wallet, is signed and sent. Whoever asked for it cannot approve it.',
    'A transferência de {amount} de {from} para {to} em {network}, retida pela política da carteira, é assinada e enviada. Quem a pediu não pode aprová-la.',
  ],
  retryTransfer: ['Try again', 'Tentar de novo'],
  retryTransferConsequence: [
    'The transfer of {amount} from {from} to {to} on {network} is made anew under the same id, if its end proves that nothing moved.',
    'A transferência de {amount} de {from} para {to} em {network} é refeita com o mesmo id, se o seu fim provar que nada se moveu.',
  ],
  held: ['Digital currency: may be on the chain already', 'Moeda digital: talvez já na cadeia'],
  heldNote: [
    'Not signed until somebody says whether it was sent, as after the database was restored from a copy. Look on the chain first.',
    'Não assinadas até alguém dizer se foram enviadas, como depois de restaurar o banco de uma cópia. Consulte a cadeia antes.',
  ],
  looks_alike: ['the same is on the chain', 'há igual na cadeia'],
  not_told: ['the nodes do not tell', 'os nós não informam'],
  found: ['Found', 'Encontradas'],
  sendHeld: ['Send now', 'Enviar agora'],
  sendHeldConsequence: [
    'The {kind} {subject} of wallet {wallet} is signed and sent on {network} now. If it was sent before, it happens twice, and no chain takes that back.',
    'A operação {kind} {subject} da carteira {wallet} é assinada e enviada em {network} agora. Se já foi enviada antes, acontece duas vezes, e nenhuma cadeia desfaz isso.',
  ],
  sentHeld: ['It was sent', 'Já foi enviada'],
  sentHeldConsequence: [
    'The {kind} {subject} is taken to be the transaction with this hash and ends as that did. Nothing is sent.',
    'A operação {kind} {subject} passa a ser a transação com este hash e termina como ela. Nada é enviado.',
  ],
  sentHeldHint: [
    'The gateway compares wallet, contract and call with the chain before it takes it.',
    'O gateway compara carteira, contrato e chamada com a cadeia antes de aceitar.',
  ],
  letters: ['Dead letters', 'Mensagens mortas'],
  lettersNote: [
    'Messages that could not be handled, by error. None is lost, and none stops another.',
    'Mensagens que não puderam ser tratadas, por erro. Nenhuma se perde nem impede outra.',
  ],
  code: ['Error', 'Erro'],
  topic: ['Topic', 'Tópico'],
  count: ['Count', 'Quantidade'],
  noCode: ['without a code', 'sem código'],
  retryClass: ['Handle again', 'Tratar de novo'],
  retryClassConsequence: [
    'Messages of {topic} with the error {code}: {count}, at most 500 at once, go back there and are handled again. What fails again comes back here.',
    'Mensagens de {topic} com o erro {code}: {count}, no máximo 500 por vez, voltam para lá e são tratadas de novo. O que falhar volta para cá.',
  ],
  retryOneConsequence: [
    'Message {id} goes back to {topic} and is handled again. If it fails again, it comes back here.',
    'A mensagem {id} volta a {topic} e é tratada de novo. Se falhar, volta para cá.',
  ],
  retried: ['Handled again: {count}.', 'Tratadas de novo: {count}.'],
  drop: ['Throw away', 'Descartar'],
  dropConsequence: [
    'Message {id} is deleted for good and never handled. A payment or return that it kept from being sent is REJECTED for good, and the sum that it held is free.',
    'A mensagem {id} é excluída de vez e nunca será tratada. Um pagamento ou devolução que ela deixou sem envio fica REJECTED de vez, e o valor que retinha é liberado.',
  ],
  attempts: ['Attempts', 'Tentativas'],
  certificates: ['Certificates about to expire', 'Certificados prestes a vencer'],
  certificatesNote: [
    'Within thirty days, without a newer one. A new one is imported beside the old: the newest is used.',
    'Em até trinta dias, sem outro mais novo. Um novo é importado ao lado do antigo: o mais novo é usado.',
  ],
  endpoints: ['Webhooks that nobody takes', 'Webhooks que ninguém aceita'],
})
