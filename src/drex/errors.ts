/** Errors of digital currency, beside those every feature shares. */
import { defineErrors } from '#src/platform/http/index.ts'

export const drexErrors = defineErrors({
  network_not_configured: {
    status: 422,
    title: 'Network not configured',
    meaning: 'The network has no node, chain id or currency contract in the settings.',
    remedy: 'Set the variables named in details, or use another network.',
    pt: {
      title: 'Rede não configurada',
      meaning: 'A rede não tem nó, id de cadeia ou contrato da moeda nas configurações.',
      remedy: 'Defina as variáveis indicadas em details, ou use outra rede.',
    },
  },
  custody_not_configured: {
    status: 422,
    title: 'Custody not configured',
    meaning: 'The key service of this type of wallet is not in the settings.',
    remedy: 'Set the variables named in details, or make a wallet of another type.',
    pt: {
      title: 'Custódia não configurada',
      meaning: 'O serviço de chaves deste tipo de carteira não está nas configurações.',
      remedy: 'Defina as variáveis indicadas em details, ou crie uma carteira de outro tipo.',
    },
  },
  network_unreachable: {
    status: 503,
    title: 'Network unreachable',
    meaning: 'No node of the network answered in time.',
    remedy: 'Repeat later; the state of the network is in GET /v1/drex/networks.',
    pt: {
      title: 'Rede inalcançável',
      meaning: 'Nenhum nó da rede respondeu a tempo.',
      remedy: 'Repita mais tarde; o estado da rede está em GET /v1/drex/networks.',
    },
    retryable: true,
  },
  token_unusable: {
    status: 422,
    title: 'Token unusable',
    meaning: 'The token’s contract tells no decimals, or others than when it was first used.',
    remedy: 'Check the token’s address; nothing was moved.',
    pt: {
      title: 'Token inutilizável',
      meaning:
        'O contrato do token não diz as casas decimais, ou diz outras que as do primeiro uso.',
      remedy: 'Confira o endereço do token; nada foi movido.',
    },
  },
  too_busy: {
    status: 503,
    title: 'Too busy',
    meaning: 'More requests wait to be written than the gateway keeps.',
    remedy: 'Repeat later with the same Idempotency-Key.',
    pt: {
      title: 'Ocupado demais',
      meaning: 'Esperam para ser gravadas mais requisições do que o gateway guarda.',
      remedy: 'Repita mais tarde com a mesma Idempotency-Key.',
    },
    retryable: true,
  },
  too_many_streams: {
    status: 422,
    title: 'Too many streams',
    meaning: 'The account follows as many events of contracts as it may.',
    remedy: 'Delete a stream.',
    pt: {
      title: 'Fluxos demais',
      meaning: 'A conta já acompanha tantos eventos de contratos quanto pode.',
      remedy: 'Exclua um fluxo.',
    },
  },
  not_in_directory: {
    status: 422,
    title: 'Not in the directory',
    meaning: 'The network’s address directory knows no such contract or institution.',
    remedy: 'Check details.name; whoever keeps the directory adds it. Nothing was sent.',
    pt: {
      title: 'Não consta do diretório',
      meaning: 'O diretório de endereços da rede não conhece tal contrato ou instituição.',
      remedy: 'Confira details.name; quem mantém o diretório o inclui. Nada foi enviado.',
    },
  },
  operation_not_found: {
    status: 404,
    title: 'Operation not found',
    meaning: 'No operation has this identifier.',
    remedy: 'Check the identifier.',
    pt: {
      title: 'Operação não encontrada',
      meaning: 'Nenhuma operação tem este identificador.',
      remedy: 'Confira o identificador.',
    },
  },
  wallet_not_found: {
    status: 404,
    title: 'Wallet not found',
    meaning: 'No wallet has this identifier or address.',
    remedy: 'Create the wallet, or check the identifier.',
    pt: {
      title: 'Carteira não encontrada',
      meaning: 'Nenhuma carteira tem este identificador ou endereço.',
      remedy: 'Crie a carteira, ou confira o identificador.',
    },
  },
  wallet_exists: {
    status: 409,
    title: 'Wallet exists',
    meaning: 'A wallet with this address is registered already.',
    remedy: 'Use the wallet that is there.',
    pt: {
      title: 'Carteira já existe',
      meaning: 'Já há uma carteira registrada com este endereço.',
      remedy: 'Use a carteira que há.',
    },
  },
  wallet_cannot_sign: {
    status: 422,
    title: 'Wallet cannot sign',
    meaning: 'The wallet is watched only: the gateway does not hold its key.',
    remedy: 'Use a managed wallet, or sign elsewhere.',
    pt: {
      title: 'Carteira não assina',
      meaning: 'A carteira é apenas observada: o gateway não tem a sua chave.',
      remedy: 'Use uma carteira gerida, ou assine em outro lugar.',
    },
  },
  policy_refused: {
    status: 422,
    title: 'Refused by the wallet’s policy',
    meaning: 'A limit, an allow-list or the rights of the wallet do not permit this.',
    remedy: 'details.rule names the rule; whoever manages wallets may change it.',
    pt: {
      title: 'Recusado pela política da carteira',
      meaning: 'Um limite, uma lista de permitidos ou os direitos da carteira não permitem isto.',
      remedy: 'details.rule diz a regra; quem administra as carteiras pode alterá-la.',
    },
  },
  approval_not_possible: {
    status: 409,
    title: 'Not to be approved',
    meaning: 'The transfer waits for no approval, or this key made it.',
    remedy: 'Approve with another key of the account.',
    pt: {
      title: 'Não há o que aprovar',
      meaning: 'A transferência não espera aprovação, ou foi esta chave que a fez.',
      remedy: 'Aprove com outra chave da conta.',
    },
  },
  wallet_disabled: {
    status: 422,
    title: 'Wallet disabled',
    meaning: 'The wallet is disabled or archived: nothing is signed with it.',
    remedy: 'Make it active again, or use another wallet.',
    pt: {
      title: 'Carteira desativada',
      meaning: 'A carteira está desativada ou arquivada: nada é assinado com ela.',
      remedy: 'Ative-a de novo, ou use outra carteira.',
    },
  },
  statement_not_ready: {
    status: 503,
    title: 'Statement not ready',
    meaning: 'The gateway has not yet read the chain far enough to tell the balances.',
    remedy: 'Repeat later; details name the network.',
    pt: {
      title: 'Extrato ainda não pronto',
      meaning: 'O gateway ainda não leu a cadeia até onde os saldos podem ser ditos.',
      remedy: 'Repita mais tarde; details diz a rede.',
    },
    retryable: true,
  },
  key_unusable: {
    status: 422,
    title: 'Key unusable',
    meaning: 'The signer has no such key, may not use it, or it is of another curve or purpose.',
    remedy: 'Check the name of the key, its curve secp256k1, and the rights of the gateway.',
    pt: {
      title: 'Chave inutilizável',
      meaning:
        'O assinador não tem tal chave, não pode usá-la, ou ela é de outra curva ou finalidade.',
      remedy: 'Confira o nome da chave, a sua curva secp256k1 e os direitos do gateway.',
    },
  },
  signer_unreachable: {
    status: 503,
    title: 'Signer unreachable',
    meaning: 'The program that has the key did not answer as it should.',
    remedy: 'Repeat later; trilho doctor tells what it says.',
    pt: {
      title: 'Assinador inalcançável',
      meaning: 'O programa que tem a chave não respondeu como deve.',
      remedy: 'Repita mais tarde; trilho doctor diz o que ele responde.',
    },
    retryable: true,
  },
  transfer_not_found: {
    status: 404,
    title: 'Transfer not found',
    meaning: 'No transfer has this identifier.',
    remedy: 'Check the identifier.',
    pt: {
      title: 'Transferência não encontrada',
      meaning: 'Nenhuma transferência tem este identificador.',
      remedy: 'Confira o identificador.',
    },
  },
  batch_not_found: {
    status: 404,
    title: 'Batch not found',
    meaning: 'No request with several transfers has this identifier.',
    remedy: 'Check the identifier.',
    pt: {
      title: 'Lote não encontrado',
      meaning: 'Nenhuma requisição com várias transferências tem este identificador.',
      remedy: 'Confira o identificador.',
    },
  },
  transfer_not_cancellable: {
    status: 409,
    title: 'Transfer cannot be cancelled',
    meaning:
      'The transfer has ended, or its network has no fees, so that what was signed cannot be replaced.',
    remedy: 'Read the transfer; when it was confirmed, send the money back.',
    pt: {
      title: 'Transferência não pode ser cancelada',
      meaning:
        'A transferência terminou, ou a sua rede não tem taxas, de modo que o que foi assinado não pode ser substituído.',
      remedy: 'Leia a transferência; se foi confirmada, envie o dinheiro de volta.',
    },
  },
  transfer_not_retryable: {
    status: 409,
    title: 'Transfer cannot be tried again',
    meaning:
      'It is under way, has not failed, or nothing proves yet that it moved nothing: details.reason says which.',
    remedy:
      'With the reason end_may_change repeat later: its block may still leave the chain. Otherwise read the transfer, and make another.',
    pt: {
      title: 'Transferência não pode ser tentada de novo',
      meaning:
        'Ela está em andamento, não falhou, ou nada prova ainda que nada moveu: details.reason diz qual.',
      remedy:
        'Com a razão end_may_change repita mais tarde: o bloco ainda pode sair da cadeia. Senão leia a transferência, e faça outra.',
    },
  },
  contract_not_found: {
    status: 404,
    title: 'Contract not found',
    meaning: 'No contract with this address was deployed or registered here.',
    remedy: 'Deploy it, or register its address and ABI with POST /v1/contracts.',
    pt: {
      title: 'Contrato não encontrado',
      meaning: 'Nenhum contrato com este endereço foi implantado ou registrado aqui.',
      remedy: 'Implante-o, ou registre o seu endereço e a sua ABI com POST /v1/contracts.',
    },
  },
  contract_exists: {
    status: 409,
    title: 'Contract exists',
    meaning: 'The contract is registered already.',
    remedy: 'Use the registration that is there.',
    pt: {
      title: 'Contrato já existe',
      meaning: 'O contrato já está registrado.',
      remedy: 'Use o registro que há.',
    },
  },
  account_not_permitted: {
    status: 422,
    title: 'Account not permitted',
    meaning: 'The network’s account rules refuse a transaction of this wallet to this contract.',
    remedy: 'Have the wallet and the contract added to the account rules. Nothing was sent.',
    pt: {
      title: 'Conta não permitida',
      meaning: 'As regras de contas da rede recusam uma transação desta carteira a este contrato.',
      remedy: 'Peça que a carteira e o contrato entrem nas regras de contas. Nada foi enviado.',
    },
  },
  contract_reverted: {
    status: 422,
    title: 'Contract reverted',
    meaning: 'The contract refuses the call as things stand; details name its error.',
    remedy: 'Correct what the error says. Nothing was sent.',
    pt: {
      title: 'Contrato reverteu',
      meaning: 'O contrato recusa a chamada no estado atual; details diz o seu erro.',
      remedy: 'Corrija o que o erro diz. Nada foi enviado.',
    },
  },
  delivery_not_found: {
    status: 404,
    title: 'Delivery not found',
    meaning: 'There is no delivery with this id.',
    remedy: 'Check the id.',
    pt: {
      title: 'Entrega não encontrada',
      meaning: 'Não existe entrega com este id.',
      remedy: 'Confira o id.',
    },
  },
  delivery_not_cancellable: {
    status: 409,
    title: 'Delivery cannot be cancelled',
    meaning:
      'It has ended, its command is just being sent, or its taking back is under way: its status says which.',
    remedy: 'Read the delivery, and repeat once its command is on the chain.',
    pt: {
      title: 'Entrega não pode ser cancelada',
      meaning:
        'Terminou, o seu comando está sendo enviado agora, ou a sua desistência está em curso: o status diz qual.',
      remedy: 'Leia a entrega, e repita quando o comando estiver na cadeia.',
    },
  },
  lien_not_found: {
    status: 404,
    title: 'Lien not found',
    meaning: 'There is no lien with this id.',
    remedy: 'Check the id.',
    pt: {
      title: 'Gravame não encontrado',
      meaning: 'Não existe gravame com este id.',
      remedy: 'Confira o id.',
    },
  },
  lien_not_ready: {
    status: 409,
    title: 'Lien not ready',
    meaning: 'Its contract is not on the chain, or another step of it is under way.',
    remedy: 'Read the lien, and repeat once its steps have ended.',
    pt: {
      title: 'Gravame não está pronto',
      meaning: 'O seu contrato não está na cadeia, ou outro passo seu está em curso.',
      remedy: 'Leia o gravame, e repita quando os seus passos tiverem terminado.',
    },
    retryable: true,
  },
})
