/** Phrases about cards. */
export const cardsPhrases: Readonly<Record<string, string>> = {
  // What each field must be.
  '{} must be {}.': '{1} deve ser {2}.',
  'as documented': 'como documentado',
  '1 to {} printable ASCII characters without a card number':
    'de 1 a {1} caracteres ASCII imprimíveis sem número de cartão',
  '1 to {} printable ASCII characters, no card number':
    'de 1 a {1} caracteres ASCII imprimíveis, sem número de cartão',
  '1 to {} printable ASCII characters': 'de 1 a {1} caracteres ASCII imprimíveis',
  '1 to {} printable characters without a card number':
    'de 1 a {1} caracteres imprimíveis sem número de cartão',
  'a token of the vault, 1 to {} printable characters, never a card number':
    'um token do cofre, de 1 a {1} caracteres imprimíveis, nunca um número de cartão',
  'a whole number of cents from 1 to {}': 'um número inteiro de centavos, de 1 a {1}',
  'a whole number from 1 to {}': 'um número inteiro de 1 a {1}',
  'BRL or USD': 'BRL ou USD',
  'three digits': 'três dígitos',
  'eci of two digits, cavv of 20 bytes in base64, ds_transaction_id a UUID':
    'eci de dois dígitos, cavv de 20 bytes em base64, ds_transaction_id um UUID',
  'BER-TLV as hexadecimal digits, without card number, tracks and name':
    'BER-TLV em dígitos hexadecimais, sem número de cartão, trilhas nem nome',
  'key, the name of one, and block, an encrypted PIN block of 16 hexadecimal digits':
    'key, o nome de uma chave, e block, um bloco de PIN cifrado de 16 dígitos hexadecimais',
  'initiator, reason and as needed network_transaction_id':
    'initiator, reason e, se for preciso, network_transaction_id',
  'installment_plan is for several installments.': 'installment_plan é para várias parcelas.',
  'The body has a field that is not known.': 'O corpo tem um campo que não se conhece.',
  'The body is no JSON object.': 'O corpo não é um objeto JSON.',
  'icc_data must be BER-TLV without card number, tracks and name.':
    'icc_data deve ser BER-TLV sem número de cartão, trilhas nem nome.',
  'pin.key is none of the keys of the card network.':
    'pin.key não é nenhuma das chaves da rede de cartões.',
  'pin.block is not encrypted.': 'pin.block não está cifrado.',
  'pin.block holds no PIN of this card under pin.key.':
    'pin.block não tem um PIN deste cartão sob pin.key.',
  'The PIN block could not be translated.': 'Não foi possível traduzir o bloco de PIN.',

  // Networks and their messages.
  'No configured network takes this card.': 'Nenhuma rede configurada aceita este cartão.',
  'Its card network is not configured here.': 'A sua rede de cartões não está configurada aqui.',
  'The card network of this card takes no installments.':
    'A rede deste cartão não aceita parcelas.',
  'The messages to the card network of this card cannot carry this {}.':
    'As mensagens à rede deste cartão não podem levar este {1}.',
  'The card network needs {}, and no profile of this merchant is configured.':
    'A rede de cartões precisa de {1}, e não há perfil deste estabelecimento configurado.',
  'The card network needs {}.': 'A rede de cartões precisa de {1}.',
  'the messages of the card network take at most {} characters of {}':
    'as mensagens da rede de cartões levam no máximo {1} caracteres de {2}',
  'The card network takes no such operation.': 'A rede de cartões não aceita essa operação.',
  'The card network declined the increment.': 'A rede de cartões recusou o incremento.',
  'The card network declined the capture.': 'A rede de cartões recusou a captura.',
  'The card network declined the void.': 'A rede de cartões recusou o cancelamento.',
  'The card network declined the partial void.':
    'A rede de cartões recusou o cancelamento parcial.',
  'The card network declined the void of what is left.':
    'A rede de cartões recusou o cancelamento do restante.',
  'The card network declined the refund.': 'A rede de cartões recusou o estorno.',
  'The answer of the card network could not be written.':
    'Não foi possível gravar a resposta da rede de cartões.',
  'The vault does not know the card token.': 'O cofre não conhece o token do cartão.',
  'The token vault did not answer.': 'O cofre de tokens não respondeu.',

  // Transactions and their states.
  'No such transaction.': 'Não existe essa transação.',
  'No such reconciliation waits.': 'Nenhuma conciliação assim está à espera.',
  'No such advice waits.': 'Nenhum aviso assim está à espera.',
  'Too many card transactions wait to be written.':
    'Transações de cartão demais esperam para ser escritas.',
  'An authorization is captured {} times at most, and the last one is final.':
    'Uma autorização se captura no máximo {1} vezes, e a última é final.',
  'The amount is together more than {}.': 'O valor somado passa de {1}.',
  'The amount is larger than what is captured and not yet given back.':
    'O valor é maior que o capturado e ainda não devolvido.',
  'The amount is larger than what is left of the authorization.':
    'O valor é maior que o que resta da autorização.',
  'The transaction is {} and cannot be {}.': 'A transação está em {1} e não pode ser {2}.',
  'The transaction is {}, with an operation under way, and cannot be {} now.':
    'A transação está em {1}, com uma operação em andamento, e não pode ser {2} agora.',
  incremented: 'incrementada',
  captured: 'capturada',
  refunded: 'estornada',
  voided: 'cancelada',
  'voided in part': 'cancelada em parte',
  'A transaction that is {} with {} cannot end {}.':
    'Uma transação em {1} com {2} não pode terminar em {3}.',
  'A transaction that is {} cannot end {}.': 'Uma transação em {1} não pode terminar em {2}.',
  'The transaction does not wait for an answer of this kind.':
    'A transação não espera uma resposta deste tipo.',
}
