/** What every part of the gateway says, and the library that judges shapes. */
export const platformPhrases: Readonly<Record<string, string>> = {
  '{} needs from and to, at most a day apart.':
    '{} precisa de from e to, a no máximo um dia um do outro.',
  // Where a violation that names no place stands.
  'The body': 'O corpo',
  'The query': 'A consulta',
  'The request': 'A requisição',
  'The URL': 'A URL',

  // The library that judges shapes.
  'Invalid input': 'não é válido',
  'Invalid input: expected {}, received {}': 'é esperado {1}, veio {2}',
  'Invalid input: expected {}': 'é esperado {1}',
  'Invalid option: expected one of {}': 'deve ser um de {1}',
  'Invalid string: must match pattern {}': 'não tem a forma {1}',
  'Invalid string: must start with {}': 'deve começar com {1}',
  'Invalid string: must end with {}': 'deve terminar com {1}',
  'Invalid string: must include {}': 'deve conter {1}',
  'Invalid number: must be a multiple of {}': 'deve ser múltiplo de {1}',
  'Invalid {}': 'não é válido como {1}',
  'Invalid key in {}': 'tem um nome de membro que não é válido',
  'Invalid value in {}': 'tem um valor que não é válido',
  'Unrecognized key: {}': 'tem um membro que não se conhece: {1}',
  'Unrecognized keys: {}': 'tem membros que não se conhecem: {1}',
  'Too small: expected string to have >={} characters': 'deve ter {1} caracteres ou mais',
  'Too small: expected array to have >={} items': 'deve ter {1} itens ou mais',
  'Too small: expected {} to be >={}': 'deve ser {2} ou mais',
  'Too small: expected {} to be >{}': 'deve ser mais do que {2}',
  'Too big: expected string to have <={} characters': 'deve ter {1} caracteres ou menos',
  'Too big: expected array to have <={} items': 'deve ter {1} itens ou menos',
  'Too big: expected {} to be <={}': 'deve ser {2} ou menos',
  'Too big: expected {} to be <{}': 'deve ser menos do que {2}',
  'Too small: expected {} to have >={} {}': 'deve ter {2} ou mais',
  'Too big: expected {} to have <={} {}': 'deve ter {2} ou menos',
  string: 'texto',
  number: 'número',
  int: 'número inteiro',
  boolean: 'true ou false',
  object: 'objeto',
  array: 'lista',
  record: 'objeto',
  undefined: 'nada',
  nonoptional: 'um valor',
  date: 'data',
  URL: 'URL',
  UUID: 'UUID',
  'ISO datetime': 'data e hora ISO 8601',
  'ISO date': 'data ISO 8601',
  'email address': 'endereço de e-mail',
  'base64-encoded string': 'base64',

  // Texts, numbers, places.
  'must be text without control characters': 'deve ser texto sem caracteres de controle',
  'must be text without control characters but tabs and line ends':
    'deve ser texto sem caracteres de controle, salvo tabulações e quebras de linha',
  'must not hold half a surrogate pair': 'não pode conter metade de um par substituto',
  'must have {} to {} characters': 'deve ter de {1} a {2} caracteres',
  'must be an id, of letters, digits, _ and -':
    'deve ser um identificador, de letras, dígitos, _ e -',
  'must be of the years 0001 to 9999': 'deve ser dos anos 0001 a 9999',
  'must be a whole number from {} to {}': 'deve ser um número inteiro de {1} a {2}',
  'holds more than {} values': 'tem mais de {1} valores',
  'holds an object of more than {} members': 'tem um objeto com mais de {1} membros',
  'is nested deeper than {} levels': 'passa de {1} níveis de aninhamento',
  'holds U+0000 or half a surrogate pair': 'contém U+0000 ou metade de um par substituto',
  'has a name with U+0000 or half a surrogate pair':
    'tem um nome com U+0000 ou metade de um par substituto',
  'is not UTF-8 in escapes': 'não é UTF-8 com escapes',
  'holds control characters': 'contém caracteres de controle',
  'is given more than once': 'é informado mais de uma vez',
  'has more digits than are kept': 'tem mais dígitos do que se guardam',
  'is not one that a list gave': 'não é um que uma lista tenha dado',
  'cannot be stored': 'não pode ser guardado',
  'must be base64': 'deve ser base64',
  'must be base64url': 'deve ser base64url',
  'must be JSON text': 'deve ser texto JSON',
  'must be true or false': 'deve ser true ou false',
  'must be an object or an array': 'deve ser um objeto ou uma lista',
  'must be four digits': 'deve ter quatro dígitos',
  'must be seven digits': 'deve ter sete dígitos',
  'must be after since': 'deve vir depois de since',
  'must change something': 'deve alterar algo',
  'is over {} bytes': 'passa de {1} bytes',
  'is too long': 'é longo demais',
  'is not valid': 'não é válido',
  'line {}': 'linha {1}',

  // Requests as a whole.
  'The body is over {} bytes.': 'O corpo passa de {1} bytes.',
  'The body is not UTF-8.': 'O corpo não é UTF-8.',
  'The body is not JSON.': 'O corpo não é JSON.',
  'The body is not gzip.': 'O corpo não é gzip.',
  'The body is over {} bytes when it is decompressed.':
    'O corpo passa de {1} bytes quando é descomprimido.',
  'The Content-Encoding may be gzip, got {}.': 'O Content-Encoding pode ser gzip, veio {1}.',
  'The body comes without a Content-Encoding here, got {}.':
    'O corpo vem aqui sem Content-Encoding, veio {1}.',
  'JSON is UTF-8, got the charset {}.': 'JSON é UTF-8, veio o charset {1}.',
  '{} {} takes {}, got {}.': '{1} {2} aceita {3}, veio {4}.',
  '{} or {}': '{1} ou {2}',
  none: 'nenhum',
  '{} {} needs the setting {}.': '{1} {2} precisa da configuração {3}.',
  '{} {} needs the settings {}.': '{1} {2} precisa das configurações {3}.',
  'The database does not answer now.': 'O banco de dados não responde agora.',
  'The database cannot be reached.': 'Não é possível alcançar o banco de dados.',
  'The request holds a value that the database cannot store.':
    'A requisição contém um valor que o banco de dados não pode guardar.',
  'The gateway failed to handle the request.': 'O gateway falhou ao tratar a requisição.',
  'The Host header is not one host.': 'O cabeçalho Host não é um só host.',
  'No such path.': 'Não existe esse caminho.',
  '{} is not allowed here, only {}.': '{1} não é permitido aqui, somente {2}.',
  'No such error code.': 'Não existe esse código de erro.',
  'No such file.': 'Não existe esse arquivo.',
  '{} large documents wait to be read.': '{1} documentos grandes esperam leitura.',
  'More requests of this kind come than are done; those that run come first.':
    'Chegam mais requisições deste tipo do que são atendidas; as que estão em andamento vêm primeiro.',
  '{} requests of this kind run now, which is as many as may.':
    'Correm agora {1} requisições deste tipo, que são tantas quantas podem.',

  // Access.
  'No key.': 'Falta a chave.',
  'The API key cannot be verified now.': 'A chave de API não pode ser verificada agora.',
  'A valid API key is needed: send Authorization: Bearer <key>.':
    'É preciso uma chave de API válida: envie Authorization: Bearer <chave>.',
  'A valid API key is needed: send authorization: Bearer <key>.':
    'É preciso uma chave de API válida: envie authorization: Bearer <chave>.',
  'The API key lacks the scope {}.': 'A chave de API não tem o escopo {1}.',
  "This is the institution's, and {} is not an account of the institution.":
    'Isto é da instituição, e {1} não é uma conta da instituição.',
  "The API key's restriction {} forbids {}.": 'A restrição {1} da chave de API proíbe {2}.',
  'the console': 'o console',
  'this call': 'esta chamada',
  'this request': 'esta requisição',
  'a new wallet': 'uma carteira nova',
  'the use of this wallet': 'o uso desta carteira',
  'transactions of this merchant': 'transações deste estabelecimento',
  'endpoints that another key made': 'endpoints que outra chave criou',
  'deliveries by their subject': 'as entregas por seu assunto',
  'managing webhooks': 'a gestão de webhooks',
  'the management of API keys': 'a gestão de chaves de API',
  'must be a link as number:hash': 'deve ser um elo, como número:hash',
  'is no scope': 'não é um escopo',
  'must be in the future': 'deve estar no futuro',
  'No such API key.': 'Não existe essa chave de API.',
  'The API key is revoked.': 'A chave de API foi revogada.',
  'The API key was made, and its secret cannot be shown again: rotate it.':
    'A chave de API foi criada, e o seu segredo não pode ser mostrado de novo: troque-o.',
  'The token is bound to a certificate, and the request did not come with it.':
    'O token está ligado a um certificado, e a requisição não veio com ele.',
  'The API key may make {} requests a second.':
    'A chave de API pode fazer {1} requisições por segundo.',
  'The API key’s account may make {} requests a second.':
    'A conta da chave de API pode fazer {1} requisições por segundo.',
  'As many lists are followed as may be.': 'Já se acompanham tantas listas quantas se pode.',
  'must be what a page follows, with its query':
    'deve ser o que uma página acompanha, com a consulta',
  'Only the pages of the console may ask for this.':
    'Somente as páginas do console podem pedir isto.',
  'There is no session, or it is over: sign in again.':
    'Não há sessão, ou ela terminou: entre de novo.',
  'The API key is unknown, expired or revoked.':
    'A chave de API é desconhecida, venceu ou foi revogada.',

  // Idempotency-Key.
  'Idempotency-Key must be once 1 to {} printable ASCII characters, a comma within quotes.':
    'Idempotency-Key deve ter, uma vez, de 1 a {1} caracteres ASCII imprimíveis, vírgula entre aspas.',
  'is malformed': 'é malformado',
  'Idempotency-Key must not hold a card number.':
    'Idempotency-Key não pode conter um número de cartão.',
  'holds a card number': 'contém um número de cartão',
  'The Idempotency-Key was used before, for another request.':
    'A Idempotency-Key já foi usada, em outra requisição.',
  'A request with this Idempotency-Key is still running.':
    'Uma requisição com esta Idempotency-Key ainda está em andamento.',

  // Audit, dead letters, webhooks.
  'is 1: there is one database': 'é 1: há um só banco de dados',
  'is the number of no link of the chain': 'não é o número de um elo da cadeia',
  'No such dead letter.': 'Não existe essa mensagem morta.',
  'It does not say which topic it came from: it can only be thrown away.':
    'Ela não diz de que tópico veio: só pode ser jogada fora.',
  'No such webhook.': 'Não existe esse webhook.',
  'No such delivery.': 'Não existe essa entrega.',
  'The API Pix has set the webhook.': 'O webhook foi definido pela API Pix.',
  'The endpoint is not active.': 'O endpoint não está ativo.',
  'is no known event; known are {}': 'não é um evento conhecido; os conhecidos são {1}',
  'must be a key of {} to {} bytes': 'deve ser uma chave de {1} a {2} bytes',
  'must be base64 after whsec_': 'deve ser base64 depois de whsec_',

  // Addresses that we are asked to call.
  'is not a URL': 'não é uma URL',
  'leads to an address that is not public': 'leva a um endereço que não é público',
  'must be an https URL': 'deve ser uma URL https',
  'must hold no fragment': 'não pode ter fragmento',
  'must hold no user name or password': 'não pode ter usuário nem senha',
  'must use port {}': 'deve usar a porta {1}',
  'the answer is compressed': 'a resposta vem comprimida',
  'the answer leads elsewhere, which is not followed':
    'a resposta leva a outro lugar, o que não se segue',
  'the host name does not resolve': 'o nome do host não se resolve',
  'the answer is over {} bytes': 'a resposta passa de {1} bytes',
  'there is no whole answer in time': 'não há resposta inteira a tempo',
  'there is no connection, or it broke off': 'não há conexão, ou ela se rompeu',
}
