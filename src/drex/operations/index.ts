import {
  changeDefaultAccount,
  disableAccount,
  enableAccount,
  freezeBalance,
  unfreezeBalance,
} from './accounts.ts'
import type { OperationDefinition } from './definition.ts'
import { requestBurn, requestMint } from './reserves.ts'
import { acceptSwap, cancelSwap, proposeSwap } from './swaps.ts'

/** The operations, a line each. */
export const operations = {
  enable_account: enableAccount,
  disable_account: disableAccount,
  freeze_balance: freezeBalance,
  unfreeze_balance: unfreezeBalance,
  change_default_account: changeDefaultAccount,
  request_mint: requestMint,
  request_burn: requestBurn,
  propose_swap: proposeSwap,
  accept_swap: acceptSwap,
  cancel_swap: cancelSwap,
} as const satisfies Readonly<Record<string, OperationDefinition>>

export type OperationName = keyof typeof operations

export const operationNames = Object.keys(operations) as [OperationName, ...OperationName[]]
