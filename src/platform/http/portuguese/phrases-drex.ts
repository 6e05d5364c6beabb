/** Phrases about digital currency: networks, wallets, contracts, transfers, signatures. */
export const drexPhrases: Readonly<Record<string, string>> = {
  // Networks.
  'A {} key has no right to {}: trl_test_ keys are for sandbox networks, trl_live_ keys for production.':
    'Uma chave {1} não tem direito a {2}: chaves trl_test_ são para redes de teste, trl_live_ para produção.',
  'Say which network: {}.': 'Diga qual rede: {1}.',
  'The network {} is not configured: set {}.': 'A rede {1} não está configurada: defina {2}.',
  '{} and {}': '{1} e {2}',
  'The network {} does not answer: {}.': 'A rede {1} não responde: {2}.',
  'is not an address ({})': 'não é um endereço ({1})',
  'The network {} has no address directory configured.':
    'A rede {1} não tem diretório de endereços configurado.',
  'The directory of {} does not know {}.': 'O diretório de {1} não conhece {2}.',
  '{} is no sandbox: nobody is funded there.': '{1} não é rede de teste: lá ninguém recebe fundos.',
  'The network {} has no swap contract configured.':
    'A rede {1} não tem contrato de troca configurado.',
  'The currency address of {} holds no such contract.':
    'O endereço da moeda de {1} não tem esse contrato.',
  'must say which: {}': 'deve dizer qual: {1}',
  'The chain of {} has not been read yet.': 'A cadeia de {1} ainda não foi lida.',
  'The chain of {} has been read up to block {} so far.':
    'A cadeia de {1} foi lida até agora até o bloco {2}.',
  'The token {} of {} does not tell its decimals.':
    'O token {1} de {2} não diz as suas casas decimais.',
  'The token {} of {} had {} decimals and now tells {}.':
    'O token {1} de {2} tinha {3} casas decimais e agora diz {4}.',

  // Amounts, addresses, values.
  'must be a positive amount with two fraction digits, such as 150.00':
    'deve ser um valor positivo com duas casas decimais, como 150.00',
  'must be a positive amount with at least two fraction digits, such as 150.00':
    'deve ser um valor positivo com pelo menos duas casas decimais, como 150.00',
  'must have two fraction digits': 'deve ter duas casas decimais',
  'must be a decimal number': 'deve ser um número decimal',
  'has more than {} fraction digits': 'tem mais de {1} casas decimais',
  'has more fraction digits than the token, which has {}':
    'tem mais casas decimais que o token, que tem {1}',
  'must be 0x and {} hexadecimal digits': 'deve ser 0x e {1} dígitos hexadecimais',
  'must be 0x and 40 hexadecimal digits, or the first eight digits of a CNPJ':
    'deve ser 0x e 40 dígitos hexadecimais, ou os oito primeiros dígitos de um CNPJ',
  'must be 0x and an even number of hexadecimal digits':
    'deve ser 0x e um número par de dígitos hexadecimais',
  'must be 32 bytes in hexadecimal': 'deve ter 32 bytes em hexadecimal',
  'has a wrong checksum': 'tem dígitos de verificação errados',
  'must be 1 to 20 letters, digits or @._-': 'deve ter de 1 a 20 letras, dígitos ou @._-',
  'must be the first eight digits of a CNPJ': 'deve ser os oito primeiros dígitos de um CNPJ',
  'must be the number of a proposal': 'deve ser o número de uma proposta',
  'must be a name': 'deve ser um nome',
  'must be a type': 'deve ser um tipo',
  'must be at most {} types': 'deve ter no máximo {1} tipos',
  'must be at most {} bytes': 'deve ter no máximo {1} bytes',
  'must be at most {} bytes of JSON': 'deve ter no máximo {1} bytes de JSON',
  'must be after issue_date': 'deve vir depois de issue_date',
  'names one twice': 'cita um duas vezes',
  'must differ from from_wallet': 'deve ser diferente de from_wallet',
  'must be an address in a swap: an institution takes wholesale currency':
    'deve ser um endereço numa troca: uma instituição recebe moeda de atacado',
  'is the institution whose wallet from_wallet is': 'é a instituição cuja carteira é from_wallet',

  // Wallets and keys.
  'No such wallet.': 'Não existe essa carteira.',
  'The wallet is archived, for good.': 'A carteira está arquivada, em definitivo.',
  'Managed wallets need TRILHO_MASTER_KEY.': 'Carteiras gerenciadas precisam de TRILHO_MASTER_KEY.',
  'A wallet with this address is there already.': 'Já existe uma carteira com este endereço.',
  'cannot sign': 'não pode assinar',
  '{}: no wallet has this address.': '{1}: nenhuma carteira tem este endereço.',
  '{}: the wallet is watched only.': '{1}: a carteira é só observada.',
  '{}: the wallet is {}.': '{1}: a carteira está {2}.',
  archived: 'arquivada',
  disabled: 'desativada',
  '{}: the wallet was made by a {} key and signs for those only.':
    '{1}: a carteira foi criada por uma chave {2} e só assina para essas.',
  '{}: the API key has no right to this wallet.':
    '{1}: a chave de API não tem direito a esta carteira.',
  'The key is not assigned to this account.': 'A chave não está atribuída a esta conta.',
  'Wallets of this type need {}.': 'Carteiras deste tipo precisam de {1}.',
  'The key cannot be used: {}.': 'A chave não pode ser usada: {1}.',
  'it did not sign': 'não assinou',
  'The wallet’s signer failed: {}.': 'O assinador da carteira falhou: {1}.',
  'The wallet’s policy limits what it moves: it moves money by transfers alone.':
    'A política da carteira limita o que ela move: ela só move dinheiro por transferências.',
  'The wallet’s policy limits what it moves: it signs nothing that lets others move money.':
    'A política da carteira limita o que ela move: ela não assina nada que deixe outros mover dinheiro.',
  'The wallet’s policy limits what it moves: use POST /v1/drex/transfers.':
    'A política da carteira limita o que ela move: use POST /v1/drex/transfers.',
  'The policy of the wallet refuses this transfer: {}.':
    'A política da carteira recusa esta transferência: {1}.',
  'The API key lacks the scope drex:transfer: {} moves money.':
    'A chave de API não tem o escopo drex:transfer: {1} move dinheiro.',
  'The API key lacks the scope drex:transfer: {} may let somebody move money.':
    'A chave de API não tem o escopo drex:transfer: {1} pode deixar alguém mover dinheiro.',
  'The API key lacks the scope drex:transfer: this call of {} may move money.':
    'A chave de API não tem o escopo drex:transfer: esta chamada de {1} pode mover dinheiro.',
  'signer_wallet: the account rules of {} refuse this wallet or contract.':
    'signer_wallet: as regras de contas de {1} recusam esta carteira ou contrato.',
  'is refused by the account rules': 'é recusado pelas regras de contas',

  // Transfers.
  'No such transfer.': 'Não existe essa transferência.',
  'No such batch.': 'Não existe esse lote.',
  'No such operation.': 'Não existe essa operação.',
  'Nothing of the batch is held.': 'Nada do lote está retido.',
  'Too many transfers wait to be written.': 'Transferências demais esperam para ser escritas.',
  'The transfer waits for no approval, or this key made it.':
    'A transferência não espera aprovação, ou foi feita por esta chave.',
  'The tokens of a swap must have the same decimals.':
    'Os tokens de uma troca devem ter as mesmas casas decimais.',
  'The transfer is {} and can no longer be cancelled.':
    'A transferência está em {1} e não pode mais ser cancelada.',
  'The transfer is signed, and on a network without fees nothing can take its place.':
    'A transferência está assinada, e numa rede sem taxas nada pode tomar o seu lugar.',
  'A replacement would cost more than the fee limit, or the transfer was mined meanwhile.':
    'Uma substituta custaria mais que o limite de taxa, ou a transferência foi minerada enquanto isso.',
  'is not a currency whose movements are followed':
    'não é uma moeda cujos movimentos se acompanham',

  // Why a transfer or call waits or has failed.
  'An earlier step did not succeed; this one was never sent.':
    'Um passo anterior não deu certo; este nunca foi enviado.',
  'The block that it was in is no longer part of the chain; it is sent again.':
    'O bloco em que estava não faz mais parte da cadeia; é enviada de novo.',
  'The wallet’s signer did not sign; it is asked again until the time runs out.':
    'O assinador da carteira não assinou; é perguntado de novo até o tempo acabar.',
  'The network’s account rules do not permit this account to send to this contract.':
    'As regras de contas da rede não permitem que esta conta envie a este contrato.',
  'There is no contract at the address: the call would do nothing.':
    'Não há contrato no endereço: a chamada não faria nada.',
  'The token answers that it would not do it.': 'O token responde que não o faria.',
  'The network does not permit this account.': 'A rede não permite esta conta.',
  'The account cannot pay for gas or value.': 'A conta não pode pagar o gás ou o valor.',
  'The time to sign it ran out; nothing was sent.':
    'O tempo para assinar acabou; nada foi enviado.',
  'It is signed, but the wallet has not enough of the network’s coin to pay for the gas.':
    'Está assinada, mas a carteira não tem moeda da rede que baste para pagar o gás.',
  'A transaction that is not of this gateway used the wallet’s nonce; it is signed again.':
    'Uma transação que não é deste gateway usou o nonce da carteira; é assinada de novo.',
  'It was on the chain already when this database knew nothing of its signature.':
    'Já estava na cadeia quando este banco de dados nada sabia da sua assinatura.',
  'The wallet has sent on the chain what this database does not know, and this may be it: it waits for a decision.':
    'A carteira enviou à cadeia o que este banco de dados não conhece, e pode ser isto: espera uma decisão.',
  'No transaction of this id is held.': 'Nenhuma transação com este id está retida.',
  'is no transaction of the wallet on this network that does the same':
    'não é transação da carteira nesta rede que faça o mesmo',
  'must be given with `sent`, and only then': 'deve vir com `sent`, e só então',
  'The network asks for a higher fee than the settings allow; it waits for a lower one.':
    'A rede pede uma taxa maior que a configurada; espera-se uma menor.',
  'The wallet has not enough of the network’s coin to pay for the gas.':
    'A carteira não tem moeda da rede que baste para pagar o gás.',
  'The network began anew; what was on it is gone.':
    'A rede começou de novo; o que estava nela se perdeu.',
  'The contract refused.': 'O contrato recusou.',
  'The contract refused: {}.': 'O contrato recusou: {1}.',

  // Deliveries and liens.
  'No such delivery.': 'Não existe essa entrega.',
  'No such lien.': 'Não existe esse gravame.',
  'The delivery cannot be cancelled now.': 'A entrega não pode ser cancelada agora.',
  'The lien’s contract is not on the chain, or another step of it is under way.':
    'O contrato do gravame não está na cadeia, ou outro passo seu está em curso.',
  'The node lags behind: repeat later.': 'O nó está atrasado: repita mais tarde.',
  'has not the code of the template {}': 'não tem o código do modelo {1}',
  'must be more than zero': 'deve ser maior que zero',
  'must differ from wallet': 'deve ser diferente de wallet',
  'must differ from owner_wallet': 'deve ser diferente de owner_wallet',
  'must not be before 1970': 'não pode ser anterior a 1970',
  'must be in the future': 'deve estar no futuro',
  'comes to less than the smallest unit of money': 'dá menos que a menor unidade de dinheiro',
  'is paid in a money without two decimals': 'paga-se em dinheiro sem duas casas decimais',
  'is none that the contract’s bonds know': 'não é nenhum que os títulos do contrato conheçam',
  'is no party of this lien': 'não é parte deste gravame',
  'must be a number of at most 77 digits, without leading zeros':
    'deve ser um número de no máximo 77 algarismos, sem zeros à esquerda',
  'must be given with `pledge` and `release`, and only then':
    'deve vir com `pledge` e `release`, e só então',
  'The money’s events tell of {} of its smallest units paid, instead of {}.':
    'Os eventos do dinheiro dizem que {1} das suas menores unidades foram pagas, em vez de {2}.',
  'The bond’s events tell of no delivery.': 'Os eventos do título não dizem de entrega.',

  // Contracts and streams.
  'No contract with this address is known.': 'Não se conhece contrato com este endereço.',
  'is not a contract’s ABI': 'não é a ABI de um contrato',
  'There is no contract at this address.': 'Não há contrato neste endereço.',
  'The contract is one of the settings or of a template, whose ABI is known.':
    'O contrato é de uma configuração ou de um modelo, cuja ABI é conhecida.',
  'It is registered.': 'Já está registrado.',
  'is needed for this function': 'é necessário para esta função',
  'The contract refuses.': 'O contrato recusa.',
  'The contract refuses: {}.': 'O contrato recusa: {1}.',
  'The network has no transaction of this hash in which a wallet or contract of yours has a part.':
    'A rede não tem transação com este hash da qual participe uma carteira ou um contrato seu.',
  'The contract has no such call.': 'O contrato não tem essa chamada.',
  'The contract has no such stream.': 'O contrato não tem esse fluxo.',
  'The account has {} streams, as many as it may.': 'A conta tem {1} fluxos, tantos quantos pode.',
  'must not be after the next block, {}': 'não pode vir depois do próximo bloco, {1}',
  'is not a function of the contract': 'não é uma função do contrato',
  'is not an event of the contract': 'não é um evento do contrato',
  'is overloaded: use {}': 'tem várias formas: use {1}',
  'is anonymous, and cannot be told from others': 'é anônimo, e não se distingue de outros',
  'is not an argument of the event': 'não é um argumento do evento',
  'is not indexed': 'não é indexado',
  'needs {} values, got {}': 'precisa de {1} valores, vieram {2}',
  'needs an object or an array': 'precisa de um objeto ou de uma lista',
  'is not a parameter': 'não é um parâmetro',
  'is given twice': 'é informado duas vezes',
  'is missing ({})': 'falta ({1})',
  'an array ({})': 'uma lista ({1})',
  'an array of {}': 'uma lista de {1}',
  'an address (wrong {})': 'um endereço ({1} errado)',
  form: 'formato',
  checksum: 'dígito de verificação',
  'a string': 'um texto',
  'a whole number of {}': 'um número inteiro de {1}',
  'hexadecimal ({})': 'hexadecimal ({1})',
  '{} bytes': '{1} bytes',

  // Typed data.
  'must be that of {}: {}': 'deve ser o de {1}: {2}',
  'must be the fields of the domain, in the usual order':
    'deve ter os campos do domínio, na ordem usual',
  'does not fit the types': 'não corresponde aos tipos',
  'is nested too deep': 'passa dos níveis de aninhamento',
  'must write large numbers as text': 'deve escrever números grandes como texto',
}
