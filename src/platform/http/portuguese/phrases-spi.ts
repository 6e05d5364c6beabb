/** Phrases about instant payments, their messages, certificates, tokens and codes. */
export const spiPhrases: Readonly<Record<string, string>> = {
  // Forms of identifiers and amounts.
  'must be {}': 'deve ser {1}',
  'must be {} or {}': 'deve ser {1} ou {2}',
  'must be 8 digits or capital letters': 'deve ter 8 dígitos ou letras maiúsculas',
  'must be 1 to {} letters and digits': 'deve ter de 1 a {1} letras e dígitos',
  'must be {} to {} letters and digits': 'deve ter de {1} a {2} letras e dígitos',
  'must be 1 to {} visible ASCII characters': 'deve ter de 1 a {1} caracteres ASCII visíveis',
  'must be a dotted message type, for example pacs.008':
    'deve ser um tipo de mensagem com ponto, como pacs.008',
  'must be a status code, for example RJCT': 'deve ser um código de situação, como RJCT',
  'must be a date of this century, YYYY-MM-DD': 'deve ser uma data deste século, AAAA-MM-DD',
  'must be an EndToEndId, a RtrId, or the control number of another system':
    'deve ser um EndToEndId, um RtrId ou o número de controle de outro sistema',
  'must be a decimal string such as 10.00': 'deve ser um texto decimal, como 10.00',
  'must be a day, YYYY-MM-DD': 'deve ser um dia, AAAA-MM-DD',
  'must be a number or latest': 'deve ser um número ou latest',
  'is not a Kubernetes name': 'não é um nome do Kubernetes',
  '{} to {} characters': 'de {1} a {2} caracteres',
  '{} to {} digits': 'de {1} a {2} dígitos',
  '{} to {} digits or capital letters': 'de {1} a {2} dígitos ou letras maiúsculas',
  '{} to {} letters or digits': 'de {1} a {2} letras ou dígitos',
  '7 digits': '7 dígitos',
  '8 digits or capital letters': '8 dígitos ou letras maiúsculas',
  '{}, ISPB, date, {} characters': '{1}, ISPB, data, {2} caracteres',
  '{}, ISPB, UTC minute, {} characters': '{1}, ISPB, minuto em UTC, {2} caracteres',
  '1 to {}': '1 a {1}',
  'E or L': 'E ou L',
  'RR, RN, CR or CN': 'RR, RN, CR ou CN',
  'M, ISPB, {} letters or digits': 'M, ISPB, {1} letras ou dígitos',
  '3 capital letters, date, {} characters': '3 letras maiúsculas, data, {1} caracteres',
  'YYYY-MM-DDThh:mm:ss.sssZ in UTC': 'AAAA-MM-DDThh:mm:ss.sssZ em UTC',
  'a CNPJ without punctuation': 'um CNPJ sem pontuação',
  'a CPF or CNPJ without punctuation': 'um CPF ou CNPJ sem pontuação',
  'an EndToEndId or RtrId': 'um EndToEndId ou RtrId',
  'true or false': 'true ou false',

  // Entries of the directory.
  'The key is registered, or being registered.': 'A chave está registrada, ou sendo registrada.',
  'No such entry.': 'Não existe esse vínculo.',
  'The entry is {}.': 'O vínculo está {1}.',
  'The directory answers {}.': 'O diretório responde {1}.',
  'is made by the directory': 'é criada pelo diretório',
  'is no Pix key of that type': 'não é uma chave Pix desse tipo',
  'must be the tax id of the owner': 'deve ser o CPF ou CNPJ do titular',
  'must change something': 'deve mudar algo',

  // Parameters of a message.
  'is missing': 'falta',
  'must be an object': 'deve ser um objeto',
  'must be an array of objects': 'deve ser uma lista de objetos',
  'must be a whole number of cents': 'deve ser um número inteiro de centavos',
  'must be above zero': 'deve ser maior que zero',
  'must hold 1 to {} items': 'deve ter de 1 a {1} itens',
  'is no parameter here': 'não é um parâmetro aqui',
  'is the same in another item': 'é igual em outro item',
  'is needed with {}': 'é necessário com {1}',
  'is not given with {}': 'não se informa com {1}',
  'is given with {} only': 'só se informa com {1}',
  '{} is given with {} only': '{1} só se informa com {2}',
  '{} or OTHR': '{1} ou OTHR',
  'is told together with the other': 'informa-se junto com o outro',
  'is not given together with a single reason': 'não se informa junto com um só motivo',
  'cash_amount and purchase_amount must add up to amount':
    'cash_amount e purchase_amount devem somar amount',
  'must be amount with purpose OTHR': 'deve ser igual a amount com purpose OTHR',
  'cbs_amount and ibs_amount must not exceed amount':
    'cbs_amount e ibs_amount não podem passar de amount',
  'what counts of CBS and IBS must not exceed amount':
    'o que conta de CBS e IBS não pode passar de amount',
  'needs a CNPJ as document of debtor and creditor':
    'precisa de um CNPJ como documento do pagador e do recebedor',
  'needs a CNPJ as document of the debtor': 'precisa de um CNPJ como documento do pagador',
  'must be HIGH with PAGPRI, NORM with any other':
    'deve ser HIGH com PAGPRI, NORM com qualquer outro',
  'needs {} or later': 'precisa de {1} ou mais recente',
  'must be IPAY with local_instrument AUTO': 'deve ser IPAY com local_instrument AUTO',
  '{} needs local_instrument MANU and PAGPRI': '{1} precisa de local_instrument MANU e PAGPRI',
  'must be a version of {} that is known here': 'deve ser uma versão de {1} conhecida aqui',
  'has a moment more than 12 hours from now': 'tem um momento a mais de 12 horas de agora',
  'was made by another institution': 'foi feito por outra instituição',
  'was made by the wrong institution': 'foi feito pela instituição errada',
  'is the same institution: what stays within it is not settled over the SPI':
    'é a mesma instituição: o que fica dentro dela não se liquida pelo SPI',
  'is no {}: its check digits are wrong': 'não é {1}: os dígitos verificadores estão errados',
  'has a minute that does not exist in UTC': 'tem um minuto que não existe em UTC',
  'has a day that does not exist': 'tem um dia que não existe',
  'is a day that has not begun in Brazil': 'é um dia que ainda não começou no Brasil',
  'tells of a day that has not begun in Brazil': 'trata de um dia que ainda não começou no Brasil',
  'is of something that has yet to happen': 'é de algo que ainda vai acontecer',
  'holds nothing that can be seen': 'não contém nada que se veja',
  'holds characters that change the direction of text':
    'contém caracteres que mudam a direção do texto',
  'must be more than the purchase, for the rest is handed out in cash':
    'deve ser mais que a compra, pois o resto é entregue em dinheiro',
  'gives back cash, and the payment is no Pix Saque or Pix Troco':
    'devolve dinheiro em espécie, e o pagamento não é Pix Saque nem Pix Troco',

  'the ISPB of the sender or debtor, or the start of the initiator’s CNPJ':
    'o ISPB do remetente ou do pagador, ou o começo do CNPJ do iniciador',
  'the ISPB of the sender or of the institution that returns':
    'o ISPB do remetente ou da instituição que devolve',
  'the ISPB of the sender or creditor': 'o ISPB do remetente ou do recebedor',
  'an id of the one who asks, not of the counterparty':
    'um identificador de quem pede, não da contraparte',
  'a UTC minute within 12 hours of now': 'um minuto em UTC a no máximo 12 horas de agora',
  'the ISPB of another institution': 'o ISPB de outra instituição',
  'an EndToEndId, a RtrId, or the control number of another system':
    'um EndToEndId, um RtrId ou o número de controle de outro sistema',
  '{} characters': '{1} caracteres',
  'at least {} characters': '{1} caracteres ou mais',
  'at most {} characters': '{1} caracteres ou menos',
  'at most {} digits': '{1} dígitos ou menos',
  'at most {} fraction digits': '{1} casas decimais ou menos',
  'is of report entry': 'é do relatório entry',
  'is of report entries': 'é do relatório entries',
  'is needed': 'é necessário',
  'is no camt.054 with an entry that is booked on a day':
    'não é camt.054 com um lançamento efetivado num dia',
  'is no camt.054 with an entry that is booked on a day, no camt.053, and no camt.052 that was asked for here':
    'não é camt.054 com um lançamento efetivado num dia, nem camt.053, nem camt.052 pedido aqui',

  // Messages and payments.
  'No such message.': 'Não existe essa mensagem.',
  'The message was received, not sent.': 'A mensagem foi recebida, não enviada.',
  'The message is {}: its answer is not overdue.':
    'A mensagem está {1}: a sua resposta não está atrasada.',
  'The message is {}, which is its end.': 'A mensagem está {1}, que é o seu fim.',
  'The message is of {}: the central bank knows it no longer.':
    'A mensagem é de {1}: o Banco Central já não a reconhece.',
  'No such payment.': 'Não existe esse pagamento.',
  'No such refund.': 'Não existe essa devolução.',
  'No such report.': 'Não existe esse relatório.',
  'No such mandate.': 'Não existe essa autorização.',
  'No such charge.': 'Não existe essa cobrança.',
  'Too many messages wait to be stored.': 'Mensagens demais esperam para ser guardadas.',
  'More than {} messages name the payment.': 'Mais de {1} mensagens citam o pagamento.',
  'The payment was made by this institution: who was paid gives it back.':
    'O pagamento foi feito por esta instituição: quem recebeu é que o devolve.',
  'Nothing says that the payment is settled.': 'Nada diz que o pagamento foi liquidado.',
  'The payment could be returned until {}.': 'O pagamento podia ser devolvido até {1}.',
  'At most {} can be given back for this reason.': 'Por este motivo se devolvem no máximo {1}.',
  'The message interface gave no catalogue.': 'A interface de mensagens não deu catálogo.',

  // Transformations.
  'The message is too large at {}': 'A mensagem é grande demais em: {1}',
  'The message must be in UTF-8: {}': 'A mensagem deve estar em UTF-8: {1}',
  'The message is not well-formed XML: {}': 'A mensagem não é XML bem formado: {1}',
  'line {}, column {}: {}.': 'linha {1}, coluna {2}.',
  'The document is no message of the SPI.': 'O documento não é uma mensagem do SPI.',
  'There is no schema for {}.': 'Não há esquema para {1}.',
  'The message was declared as {} but is {}.': 'A mensagem foi declarada como {1}, mas é {2}.',
  'AppHdr/MsgDefIdr is {}, but the namespace is that of {}.':
    'AppHdr/MsgDefIdr é {1}, mas o namespace é o de {2}.',
  'The message is not JSON.': 'A mensagem não é JSON.',
  'The message breaks its schema at many places; the first {} are listed.':
    'A mensagem quebra o seu esquema em muitos lugares; os primeiros {1} estão listados.',
  'The message breaks its schema at {} place(s).':
    'A mensagem quebra o seu esquema em {1} lugar(es).',
  'is not a format the source can become; the accepted pairs are {}':
    'não é um formato em que a origem se converta; os pares aceitos são {1}',
  'is not a format that can be read': 'não é um formato que se possa ler',
  'contradicts the path': 'contradiz o caminho',
  'must be {} and the version': 'deve ser {1} e a versão',
  'has no schema': 'não tem esquema',
  'is none of {}': 'não é nenhum de {1}',
  'is of no kind that is recognised by its content: name it in kind, one of {}':
    'não é de um tipo que se reconheça pelo conteúdo: informe-o em kind, um de {1}',

  // gRPC; the last are its library's.
  'The gateway is stopping.': 'O gateway está parando.',
  'The metadata is over {} bytes.': 'Os metadados passam de {1} bytes.',
  'There is no such method.': 'Não existe esse método.',
  'There is no such service.': 'Não existe esse serviço.',
  'There is no such file or symbol.': 'Não existe esse arquivo nem esse símbolo.',
  'There are no extensions.': 'Não há extensões.',
  'The request asks for nothing.': 'A requisição não pede nada.',
  'Deadline exceeded': 'O prazo da chamada terminou',
  'Received message larger than max ({} vs {})':
    'A mensagem recebida passa do limite de bytes ({1}, limite {2})',
  'Received message that decompresses to a size larger than {}':
    'A mensagem recebida passa, descomprimida, do limite de {1} bytes',
  'Failed to decompress message': 'Não foi possível descomprimir a mensagem',
  'Received message compressed with unsupported encoding {}':
    'A mensagem recebida vem comprimida de uma forma não suportada, {1}',
  'Received compressed message but "grpc-encoding" header was identity':
    'A mensagem recebida vem comprimida, mas o cabeçalho "grpc-encoding" diz identity',
  'Error deserializing request': 'Não foi possível ler a requisição',
  'Error deserializing request: {}': 'Não foi possível ler a requisição',
  'Invalid grpc-timeout value {}': 'O valor {1} de grpc-timeout não é válido',
  'Received a second request message for server streaming method {}':
    'Veio uma segunda requisição para o método {1}, que só aceita uma',
  'Received no request message for server streaming method {}':
    'Não veio requisição para o método {1}',
  'Received a second request message for unary method {}':
    'Veio uma segunda requisição para o método {1}, que só aceita uma',
  'Received no request message for unary method {}': 'Não veio requisição para o método {1}',
  'Stream closed before sending status': 'O fluxo terminou antes da resposta',
  'The request {}.': 'A requisição {1}.',
  'ends within a number': 'termina dentro de um número',
  'holds a number of too many bytes': 'contém um número de bytes demais',
  'ends within a field': 'termina dentro de um campo',
  'holds a string that is not UTF-8': 'contém um texto que não é UTF-8',
  'holds an impossible field number': 'contém um número de campo impossível',
  'holds an impossible wire type': 'contém um tipo impossível no fio',
  'nests groups too deeply': 'aninha grupos demais',
  'ends within a group': 'termina dentro de um grupo',
  'ends another group than it began': 'termina outro grupo que o começado',

  // Certificates, the security header, tokens.
  '{}.': '{1}.',
  '{}; {}': '{1}; {2}',
  'No such certificate.': 'Não existe esse certificado.',
  'the key must be RSA of {} bits or EC': 'a chave deve ser RSA de {1} bits ou EC',
  'the private key is not the certificate’s': 'a chave privada não é a do certificado',
  '{} needs the key usage {}': '{1} precisa do uso de chave {2}',
  '{} was not issued by {}': '{1} não foi emitido por {2}',
  'the certificate has expired': 'o certificado venceu',
  'the password does not open the file': 'a senha não abre o arquivo',
  'the certificates form a circle': 'os certificados formam um círculo',
  'a block has no end': 'um bloco não tem fim',
  'a block has no name': 'um bloco não tem nome',
  'there are several private keys': 'há várias chaves privadas',
  'there are over {} blocks': 'há mais de {1} blocos',
  '{}, or the same certificate under another version, is stored already.':
    '{1}, ou o mesmo certificado sob outra versão, já está guardado.',
  'Other certificate files are being read.': 'Outros arquivos de certificados estão sendo lidos.',
  'Certificates are read from TRILHO_CERTS_DIR.': 'Os certificados são lidos de TRILHO_CERTS_DIR.',
  '{} is stored without its private key.': '{1} está guardado sem a sua chave privada.',
  'version must be a number or latest.': 'version deve ser um número ou latest.',
  'Private keys in the database need the setting TRILHO_MASTER_KEY.':
    'Chaves privadas no banco de dados precisam da configuração TRILHO_MASTER_KEY.',
  'must be 1 to {} hexadecimal digits': 'deve ter de 1 a {1} dígitos hexadecimais',
  'is no special use': 'não é um uso especial',
  '{} is not set': '{1} não está definido',
  '{} is stored without its key': '{1} está guardado sem a sua chave',
  'authority and serial of the {} are needed':
    'é preciso informar autoridade e número de série ({1})',
  'the certificate store lacks {}, {}': 'falta no armazém de certificados: {2}',
  'No usable key has the kid {}.': 'Nenhuma chave utilizável tem o kid {1}.',
  'The key {} is not for encryption.': 'A chave {1} não é para cifrar.',
  'The private key of {} is not stored.': 'A chave privada de {1} não está guardada.',
  'The token is no JWE, is compressed, or names two keys.':
    'O token não é JWE, é comprimido, ou cita duas chaves.',
  'No usable key answers to the token.': 'Nenhuma chave utilizável corresponde ao token.',
  'The key is not used with {}.': 'A chave não se usa com {1}.',
  'The key is used with another algorithm.': 'A chave se usa com outro algoritmo.',
  'The content encryption is not accepted.': 'A cifra do conteúdo não é aceita.',
  'The token cannot be decrypted.': 'Não é possível decifrar o token.',
  'The token is no JWE of the accepted form.': 'O token não é JWE da forma aceita.',

  // Pix keys and codes.
  'The list of participants has no such ISPB.': 'A lista de participantes não tem esse ISPB.',
  'No such Pix key.': 'Não existe essa chave Pix.',
  'The key is another account’s: remove it first.': 'A chave é de outra conta: remova-a antes.',
  'must be a CPF or CNPJ without punctuation': 'deve ser um CPF ou CNPJ sem pontuação',
  'has no letter or digit that a QR code can hold':
    'não tem letra nem dígito que caiba num QR Code',
  'is no Pix key': 'não é uma chave Pix',
  'has other check digits': 'tem outros dígitos verificadores',
  'The code holds no location of a {}.': 'O código não tem location de {1}.',
  'The location is no address.': 'A location não é um endereço.',
  'The location: {}.': 'A location: {1}.',
  'The location answers {}.': 'A location responde {1}.',
  'Too many other codes are being resolved.': 'Outros códigos demais estão sendo resolvidos.',
  'payload, offset {}: {}': 'payload, posição {1}: {2}',
  'tag {}, offset {}: {}': 'campo {1}, posição {2}: {3}',
  'a mandatory object is missing': 'falta um objeto obrigatório',
  'a Pix template holds a key or an address, not both':
    'um template Pix tem uma chave ou um endereço, não os dois',
  'a Pix template needs a key in 01 or an address in 25':
    'um template Pix precisa de uma chave em 01 ou de um endereço em 25',
  'a recurrence template needs an address in 25':
    'um template de recorrência precisa de um endereço em 25',
  'Pix has two templates': 'há dois templates Pix',
  'a number of +55 needs an area code in use and 8 or 9 digits':
    'um número de +55 precisa de um DDD em uso e de 8 ou 9 dígitos',
  'amount must be digits with at most two decimals after a point':
    'o valor deve ter dígitos e no máximo duas casas depois de um ponto',
  'amount must be digits, a point and two decimals, at most {} characters':
    'o valor deve ter dígitos, um ponto e duas casas, no máximo {1} caracteres',
  'currency must be three digits': 'a moeda deve ter três dígitos',
  'give a key or a url, not both': 'informe uma chave ou uma url, não as duas',
  'id occurs twice at this level': 'o id aparece duas vezes neste nível',
  'ids must ascend, with 63 last': 'os ids devem ser crescentes, com 63 no fim',
  'info must be printable text': 'info deve ser texto imprimível',
  'info needs a key': 'info precisa de uma chave',
  'txid needs a key': 'txid precisa de uma chave',
  'key must be a CPF or CNPJ without punctuation, +country number, e-mail or EVP in lower case':
    'a chave deve ser CPF ou CNPJ sem pontuação, número com +país, e-mail ou EVP em minúsculas',
  'key must be printable, at most {} bytes': 'a chave deve ser imprimível, com no máximo {1} bytes',
  'key has more than {} characters': 'a chave tem mais de {1} caracteres',
  'an e-mail key has at most {} characters': 'uma chave de e-mail tem no máximo {1} caracteres',
  'key and info have {} bytes together, {} at most':
    'chave e info têm juntas {1} bytes, no máximo {2}',
  'length must be 01 to 99': 'o comprimento deve ser de 01 a 99',
  'merchant category code must be four digits':
    'o código de categoria do estabelecimento deve ter quatro dígitos',
  'must be printable text': 'deve ser texto imprimível',
  'must be 1 to {} printable characters': 'deve ter de 1 a {1} caracteres imprimíveis',
  'must be printable text of 1 to {} bytes of UTF-8':
    'deve ser texto imprimível de 1 a {1} bytes em UTF-8',
  'payload must be UTF-8': 'o payload deve ser UTF-8',
  'payload must begin with 000201': 'o payload deve começar com 000201',
  'payload has more than {} bytes': 'o payload tem mais de {1} bytes',
  'payload must have 1 to {} bytes': 'o payload deve ter de 1 a {1} bytes',
  'point of initiation must be 11 or 12': 'o ponto de iniciação deve ser 11 ou 12',
  'the CRC does not match the payload': 'o CRC não corresponde ao payload',
  'the CRC must be four upper-case hexadecimal digits':
    'o CRC deve ter quatro dígitos hexadecimais maiúsculos',
  'the check digits of the CNPJ differ': 'os dígitos verificadores do CNPJ não conferem',
  'the check digits of the CPF differ': 'os dígitos verificadores do CPF não conferem',
  'the last object must be 6304 and the CRC': 'o último objeto deve ser 6304 e o CRC',
  'value ends after its template or payload': 'o valor passa do fim do template ou do payload',
  'host and path without scheme, at most {} characters':
    'host e caminho sem esquema, no máximo {1} caracteres',
  'address must be host and path without scheme, at most {} characters':
    'o endereço deve ser host e caminho sem esquema, no máximo {1} caracteres',
  'url must be host and path without scheme, at most {} characters':
    'a url deve ser host e caminho sem esquema, no máximo {1} caracteres',
  'must not be null: leave it out': 'não pode ser null: omita o campo',
  'txid must be {} to {} letters and digits': 'txid deve ter de {1} a {2} letras e dígitos',
  'txid must be 1 to {} letters and digits, or {}':
    'txid deve ter de 1 a {1} letras e dígitos, ou {2}',
}
