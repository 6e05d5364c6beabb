/** Errors of digital currency, beside those every feature shares. */
import { defineErrors } from '#src/platform/http/index.ts'

export const drexErrors = defineErrors({
  network_not_configured: {
    status: 422,
    title: 'Network not configured',
    meaning: 'The network has no node, chain id or currency contract in the settings.',
    remedy: 'Set the variables named in details, or use another network.',
  },
  custody_not_configured: {
    status: 422,
    title: 'Custody not configured',
    meaning: 'The key service of this type of wallet is not in the settings.',
    remedy: 'Set the variables named in details, or make a wallet of another type.',
  },
  network_unreachable: {
    status: 503,
    title: 'Network unreachable',
    meaning: 'No node of the network answered in time.',
    remedy: 'Repeat later; the state of the network is in GET /v1/drex/networks.',
    retryable: true,
  },
  token_unusable: {
    status: 422,
    title: 'Token unusable',
    meaning: 'The token’s contract tells no decimals, or others than when it was first used.',
    remedy: 'Check the token’s address; nothing was moved.',
  },
  too_busy: {
    status: 503,
    title: 'Too busy',
    meaning: 'More requests wait to be written than the gateway keeps.',
    remedy: 'Repeat later with the same Idempotency-Key.',
    retryable: true,
  },
  too_many_streams: {
    status: 422,
    title: 'Too many streams',
    meaning: 'The account follows as many events of contracts as it may.',
    remedy: 'Delete a stream.',
  },
  not_in_directory: {
    status: 422,
    title: 'Not in the directory',
    meaning: 'The network’s address directory knows no such contract or institution.',
    remedy: 'Check details.name; whoever keeps the directory adds it. Nothing was sent.',
  },
  operation_not_found: {
    status: 404,
    title: 'Operation not found',
    meaning: 'No operation has this identifier.',
    remedy: 'Check the identifier.',
  },
  wallet_not_found: {
    status: 404,
    title: 'Wallet not found',
    meaning: 'No wallet has this identifier or address.',
    remedy: 'Create the wallet, or check the identifier.',
  },
  wallet_exists: {
    status: 409,
    title: 'Wallet exists',
    meaning: 'A wallet with this address is registered already.',
    remedy: 'Use the wallet that is there.',
  },
  wallet_cannot_sign: {
    status: 422,
    title: 'Wallet cannot sign',
    meaning: 'The wallet is watched only: the gateway does not hold its key.',
    remedy: 'Use a managed wallet, or sign elsewhere.',
  },
  policy_refused: {
    status: 422,
    title: 'Refused by the wallet’s policy',
    meaning: 'A limit, an allow-list or the rights of the wallet do not permit this.',
    remedy: 'details.rule names the rule; whoever manages wallets may change it.',
  },
  approval_not_possible: {
    status: 409,
    title: 'Not to be approved',
    meaning: 'The transfer waits for no approval, or this key made it.',
    remedy: 'Approve with another key of the account.',
  },
  wallet_disabled: {
    status: 422,
    title: 'Wallet disabled',
    meaning: 'The wallet is disabled or archived: nothing is signed with it.',
    remedy: 'Make it active again, or use another wallet.',
  },
  statement_not_ready: {
    status: 503,
    title: 'Statement not ready',
    meaning: 'The gateway has not yet read the chain far enough to tell the balances.',
    remedy: 'Repeat later; details name the network.',
    retryable: true,
  },
  key_unusable: {
    status: 422,
    title: 'Key unusable',
    meaning: 'The signer has no such key, may not use it, or it is of another curve or purpose.',
    remedy: 'Check the name of the key, its curve secp256k1, and the rights of the gateway.',
  },
  signer_unreachable: {
    status: 503,
    title: 'Signer unreachable',
    meaning: 'The program that has the key did not answer as it should.',
    remedy: 'Repeat later; trilho doctor tells what it says.',
    retryable: true,
  },
  transfer_not_found: {
    status: 404,
    title: 'Transfer not found',
    meaning: 'No transfer has this identifier.',
    remedy: 'Check the identifier.',
  },
  batch_not_found: {
    status: 404,
    title: 'Batch not found',
    meaning: 'No request with several transfers has this identifier.',
    remedy: 'Check the identifier.',
  },
  transfer_not_cancellable: {
    status: 409,
    title: 'Transfer cannot be cancelled',
    meaning:
      'The transfer has ended, may be on the chain already, or its network has no fees, so that what was signed cannot be replaced.',
    remedy: 'Read the transfer; when it was confirmed, send the money back.',
  },
  transfer_not_retryable: {
    status: 409,
    title: 'Transfer cannot be tried again',
    meaning:
      'It is under way, has not failed, or nothing proves yet that it moved nothing: details.reason says which.',
    remedy:
      'With the reason end_may_change repeat later: its block may still leave the chain. Otherwise read the transfer, and make another.',
  },
  contract_not_found: {
    status: 404,
    title: 'Contract not found',
    meaning: 'No contract with this address was deployed or registered here.',
    remedy: 'Deploy it, or register its address and ABI with POST /v1/contracts.',
  },
  contract_exists: {
    status: 409,
    title: 'Contract exists',
    meaning: 'The contract is registered already.',
    remedy: 'Use the registration that is there.',
  },
  account_not_permitted: {
    status: 422,
    title: 'Account not permitted',
    meaning: 'The network’s account rules refuse a transaction of this wallet to this contract.',
    remedy: 'Have the wallet and the contract added to the account rules. Nothing was sent.',
  },
  contract_reverted: {
    status: 422,
    title: 'Contract reverted',
    meaning: 'The contract refuses the call as things stand; details name its error.',
    remedy: 'Correct what the error says. Nothing was sent.',
  },
  answer_unreadable: {
    status: 422,
    title: 'Answer unreadable',
    meaning:
      'What the contract answered is not what its ABI says, or has more than 131 072 bytes; details show how it begins.',
    remedy: 'Register the ABI that the contract has, or ask for less. Nothing was sent.',
  },
  delivery_not_found: {
    status: 404,
    title: 'Delivery not found',
    meaning: 'There is no delivery with this id.',
    remedy: 'Check the id.',
  },
  delivery_not_cancellable: {
    status: 409,
    title: 'Delivery cannot be cancelled',
    meaning:
      'It has ended, its command is just being sent or may be on the chain already, or its taking back is under way: its status says which.',
    remedy: 'Read the delivery, and repeat once its command is on the chain.',
  },
  lien_not_found: {
    status: 404,
    title: 'Lien not found',
    meaning: 'There is no lien with this id.',
    remedy: 'Check the id.',
  },
  lien_not_ready: {
    status: 409,
    title: 'Lien not ready',
    meaning: 'Its contract is not on the chain, or another step of it is under way.',
    remedy: 'Read the lien, and repeat once its steps have ended.',
    retryable: true,
  },
})

/** The refusals of routes that have a wallet sign. */
export const signingErrors = [
  drexErrors.wallet_not_found,
  drexErrors.wallet_cannot_sign,
  drexErrors.wallet_disabled,
] as const

/** The refusals of routes that ask a network. */
export const networkErrors = [
  drexErrors.network_not_configured,
  drexErrors.network_unreachable,
] as const
