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
  'goes with the rest of the account': 'só combina com o resto da conta',
  // Claims.
  'No such claim.': 'Essa reivindicação não existe.',
  'The key is claimed already.': 'A chave já está reivindicada.',
  'must be one of {}': 'deve ser um destes: {1}',
  'must be the tax id of the claimer': 'deve ser o CPF ou CNPJ de quem reivindica',
  'must be PHONE: only phones change their owner': 'deve ser PHONE: só telefones mudam de dono',
  // Infraction reports and refund requests.
  'Who is {} cannot {} it.': 'Quem é {1} não pode fazer {2}.',
  'No such dispute.': 'Essa disputa não existe.',
  'One about this payment goes on, for this reason.':
    'Já há uma em andamento sobre este pagamento, por este motivo.',
  'must be a phone with +': 'deve ser um telefone com +',
  'must be OTHER for this reason': 'deve ser OTHER para este motivo',
  'is of what is agreed to': 'só combina com o que se aceita',
  'is not of {}': 'não combina com {1}',
  'The API key lacks the scope {}, which giving back needs.':
    'A chave de API não tem o escopo {1}, de que devolver precisa.',
  'is asked for as {}, which no return of the payment answers':
    'é pedida como {1}, que nenhuma devolução do pagamento atende',
  'must be less than what is asked for': 'deve ser menos do que se pede',
  'The return {} was made for this request, and is {}.':
    'A devolução {1} foi feita para este pedido, e está {2}.',
  'This institution has received no such payment.': 'Esta instituição não recebeu esse pagamento.',
  // Comparisons with the directory.
  'No such comparison.': 'Essa comparação não existe.',
  'One of this type runs.': 'Uma deste tipo está em andamento.',
  'No such difference.': 'Essa diferença não existe.',
  '{} was kept.': 'Manteve-se {1}.',
  'is of events alone': 'só combina com events',
}
