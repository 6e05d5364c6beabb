/** Phrases about Pix keys and payments by them. */
export const keyPhrases: Readonly<Record<string, string>> = {
  'The key is another’s now.': 'A chave agora é de outra pessoa.',
  'No open lookup has this end_to_end_id.': 'Nenhuma consulta aberta tem este end_to_end_id.',
  'Too many other keys are being looked up.': 'Outras chaves demais estão sendo consultadas.',
  'The lookups of now are used up.': 'As consultas de agora estão esgotadas.',
  'The directory: {}.': 'O diretório: {1}.',
  'no answer in time': 'sem resposta a tempo',
  'the connection failed: {}': 'a conexão falhou: {1}',
  'the answer has more than {} bytes': 'a resposta tem mais de {1} bytes',
  'the directory is away': 'o diretório está fora do ar',
  'the answer is about another key': 'a resposta é sobre outra chave',
  'the directory answers {}': 'o diretório responde {1}',
  'the answer cannot be read: {}': 'não é possível ler a resposta: {1}',
  'The directory has no such key.': 'O diretório não tem essa chave.',
  'The key is in own custody.': 'A chave está em custódia própria.',
  'The directory answers {} {}.': 'O diretório responde {1} {2}.',
  'exactly one of key, qr_code and account is needed':
    'é preciso exatamente um de key, qr_code e account',
  'goes with key alone': 'só combina com key',
  'Payments by key need {}.': 'Pagamentos por chave precisam de {1}.',
  'Who would be paid has another CPF or CNPJ than creditor_document.':
    'Quem receberia tem outro CPF ou CNPJ que o de creditor_document.',
  'is needed: the code leaves it to the payer': 'é preciso: o código o deixa ao pagador',
  'The code asks for {}.': 'O código pede {1}.',
  'The charge is not signed as it should be.': 'A cobrança não está assinada como devia.',
  'The code asks for no Pix payment.': 'O código não pede pagamento Pix.',
  'The charge has no amount that can be read.': 'A cobrança não tem valor que se possa ler.',
  'The charge is not open.': 'A cobrança não está aberta.',
  'The charge has no key or txid that can be read.':
    'A cobrança não tem chave ou txid que se possa ler.',
  'The charge hands out cash in no way that can be read.':
    'A cobrança entrega dinheiro de um modo que não pode ser lido.',
  'The charge has expired.': 'A cobrança venceu.',
  'must be an EndToEndId': 'deve ser um EndToEndId',
}
