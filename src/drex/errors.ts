/** Errors of digital currency, beside those every feature shares. */
import { defineErrors } from '#src/platform/http/index.ts'

export const drexErrors = defineErrors({
  network_not_configured: {
    status: 422,
    title: 'Network not configured',
    meaning: 'The network has no node, chain id or currency contract in the settings.',
    remedy: 'Set the variables named in details, or use another network.',
    retryable: false,
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
    retryable: false,
  },
  too_busy: {
    status: 503,
    title: 'Too busy',
    meaning: 'More requests wait to be written than the gateway keeps.',
    remedy: 'Repeat later with the same Idempotency-Key.',
    retryable: true,
  },
  wallet_not_found: {
    status: 404,
    title: 'Wallet not found',
    meaning: 'No wallet has this identifier or address.',
    remedy: 'Create the wallet, or check the identifier.',
    retryable: false,
  },
  wallet_exists: {
    status: 409,
    title: 'Wallet exists',
    meaning: 'A wallet with this address is registered already.',
    remedy: 'Use the wallet that is there.',
    retryable: false,
  },
  wallet_cannot_sign: {
    status: 422,
    title: 'Wallet cannot sign',
    meaning: 'The wallet is watched only: the gateway does not hold its key.',
    remedy: 'Use a managed wallet, or sign elsewhere.',
    retryable: false,
  },
  policy_refused: {
    status: 422,
    title: 'Refused by the wallet’s policy',
    meaning: 'A limit, an allow-list or the rights of the wallet do not permit this.',
    remedy: 'details.rule names the rule; whoever manages wallets may change it.',
    retryable: false,
  },
  approval_not_possible: {
    status: 409,
    title: 'Not to be approved',
    meaning: 'The transfer waits for no approval, or this key made it.',
    remedy: 'Approve with another key of the account.',
    retryable: false,
  },
  wallet_disabled: {
    status: 422,
    title: 'Wallet disabled',
    meaning: 'The wallet is disabled or archived: nothing is signed with it.',
    remedy: 'Make it active again, or use another wallet.',
    retryable: false,
  },
  statement_not_ready: {
    status: 503,
    title: 'Statement not ready',
    meaning: 'The gateway has not yet read the chain far enough to tell the balances.',
    remedy: 'Repeat later; details name the network.',
    retryable: true,
  },
  transfer_not_found: {
    status: 404,
    title: 'Transfer not found',
    meaning: 'No transfer has this identifier.',
    remedy: 'Check the identifier.',
    retryable: false,
  },
  transfer_not_cancellable: {
    status: 409,
    title: 'Transfer cannot be cancelled',
    meaning:
      'The transfer has ended, or its network has no fees, so that what was signed cannot be replaced.',
    remedy: 'Read the transfer; when it was confirmed, send the money back.',
    retryable: false,
  },
  transfer_not_retryable: {
    status: 409,
    title: 'Transfer cannot be tried again',
    meaning:
      'It is under way, has not failed, or nothing proves yet that it moved nothing: details.reason says which.',
    remedy:
      'With the reason end_may_change repeat later: its block may still leave the chain. Otherwise read the transfer, and make another.',
    retryable: false,
  },
  contract_not_found: {
    status: 404,
    title: 'Contract not found',
    meaning: 'No contract with this address was deployed or registered here.',
    remedy: 'Deploy it, or register its address and ABI with POST /v1/contracts.',
    retryable: false,
  },
  contract_exists: {
    status: 409,
    title: 'Contract exists',
    meaning: 'The contract is registered already.',
    remedy: 'Use the registration that is there.',
    retryable: false,
  },
  account_not_permitted: {
    status: 422,
    title: 'Account not permitted',
    meaning: 'The network’s account rules refuse a transaction of this wallet to this contract.',
    remedy: 'Have the wallet and the contract added to the account rules. Nothing was sent.',
    retryable: false,
  },
  contract_reverted: {
    status: 422,
    title: 'Contract reverted',
    meaning: 'The contract refuses the call as things stand; details name its error.',
    remedy: 'Correct what the error says. Nothing was sent.',
    retryable: false,
  },
})
