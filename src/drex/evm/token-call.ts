/** The calls of the transfer path, encoded by hand: each is a selector and words. */
import type { Hex } from './hex.ts'

/** First four bytes of keccak256 of `transfer(address,uint256)`. */
const TRANSFER = '0xa9059cbb'
/** `approve(address,uint256)` */
const APPROVE = '0x095ea7b3'
/** `balanceOf(address)` */
const BALANCE_OF = '0x70a08231'
/** `frozenBalanceOf(address)` */
const FROZEN_BALANCE_OF = '0xbe91de53'
/** `authorizedAccounts(address)` */
const AUTHORIZED_ACCOUNTS = '0x24ba5884'
/** `executeSwap(address,address,address,uint256)` */
const EXECUTE_SWAP = '0x6012856e'
/** `addTarget(address)` */
const ADD_TARGET = '0x6de45dee'
/** `transactionAllowed(address,address,uint256,uint256,uint256,bytes)` */
const TRANSACTION_ALLOWED = '0x936421d5'

export function encodeTransfer(to: Hex, amount: bigint): Hex {
  return `${TRANSFER}${addressWord(to)}${amountWord(amount)}`
}

export function encodeApprove(spender: Hex, amount: bigint): Hex {
  return `${APPROVE}${addressWord(spender)}${amountWord(amount)}`
}

export function encodeBalanceOf(account: Hex): Hex {
  return `${BALANCE_OF}${addressWord(account)}`
}

export function encodeFrozenBalanceOf(account: Hex): Hex {
  return `${FROZEN_BALANCE_OF}${addressWord(account)}`
}

export function encodeAuthorizedAccounts(account: Hex): Hex {
  return `${AUTHORIZED_ACCOUNTS}${addressWord(account)}`
}

/** The pilot's one-step exchange between two institutions' retail tokens. */
export function encodeExecuteSwap(
  tokenSender: Hex,
  tokenReceiver: Hex,
  receiver: Hex,
  amount: bigint,
): Hex {
  const words = [tokenSender, tokenReceiver, receiver].map(addressWord).join('')
  return `${EXECUTE_SWAP}${words}${amountWord(amount)}`
}

/** Makes a contract callable on a permissioned network. */
export function encodeAddTarget(target: Hex): Hex {
  return `${ADD_TARGET}${addressWord(target)}`
}

/** Asks the account rules; value, gas price and gas limit are given as zero: rules are about parties. */
export function encodeTransactionAllowed(sender: Hex, target: Hex, payload: Hex): Hex {
  const bytes = payload.slice(2)
  const zero = amountWord(0n)
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
  const tail = `${amountWord(6n * 32n)}${amountWord(BigInt(bytes.length / 2))}${padded}`
  return `${TRANSACTION_ALLOWED}${addressWord(sender)}${addressWord(target)}${zero}${zero}${zero}${tail}`
}

function addressWord(address: Hex): string {
  return address.slice(2).padStart(64, '0')
}

function amountWord(amount: bigint): string {
  return amount.toString(16).padStart(64, '0')
}
