/** The calls of the transfer path, encoded by hand: each is a selector and words. */
import type { Hex } from './hex.ts'

/** First four bytes of keccak256 of `transfer(address,uint256)`. */
const transfer = '0xa9059cbb'
/** `approve(address,uint256)` */
const approve = '0x095ea7b3'
/** `balanceOf(address)` */
const balanceOf = '0x70a08231'
/** `frozenBalanceOf(address)` */
const frozenBalanceOf = '0xbe91de53'
/** `allowance(address,address)` */
const allowance = '0xdd62ed3e'
/** `enableAccount(address)` */
const enableAccount = '0x84b61581'
/** `mint(address,uint256)` */
const mint = '0x40c10f19'
/** `decimals()` */
const decimals = '0x313ce567'
/** `authorizedAccounts(address)` */
const authorizedAccounts = '0x24ba5884'
/** `addressDiscovery(bytes32)` */
const addressDiscovery = '0x118c894b'
/** `defaultAccount(uint256)` */
const defaultAccount = '0x3f65c4a1'
/** `executeSwap(address,address,address,uint256)` */
const executeSwap = '0x6012856e'
/** `addTarget(address)` */
const addTarget = '0x6de45dee'
/** `transactionAllowed(address,address,uint256,uint256,uint256,bytes)` */
const transactionAllowed = '0x936421d5'

export const encodeTransfer = (to: Hex, amount: bigint): Hex =>
  `${transfer}${addressWord(to)}${amountWord(amount)}`

export const encodeApprove = (spender: Hex, amount: bigint): Hex =>
  `${approve}${addressWord(spender)}${amountWord(amount)}`

export const encodeBalanceOf = (account: Hex): Hex => `${balanceOf}${addressWord(account)}`

export const encodeAllowance = (owner: Hex, spender: Hex): Hex =>
  `${allowance}${addressWord(owner)}${addressWord(spender)}`

export const encodeEnableAccount = (account: Hex): Hex => `${enableAccount}${addressWord(account)}`

export const encodeMint = (to: Hex, amount: bigint): Hex =>
  `${mint}${addressWord(to)}${amountWord(amount)}`

export const encodeDecimals = (): Hex => decimals

export const encodeFrozenBalanceOf = (account: Hex): Hex =>
  `${frozenBalanceOf}${addressWord(account)}`

export const encodeAuthorizedAccounts = (account: Hex): Hex =>
  `${authorizedAccounts}${addressWord(account)}`

/** @param name hash of a contract's name */
export const encodeAddressDiscovery = (name: Hex): Hex => `${addressDiscovery}${name.slice(2)}`

export const encodeDefaultAccount = (cnpj8: bigint): Hex => `${defaultAccount}${amountWord(cnpj8)}`

/** The pilot's one-step exchange between two institutions' retail tokens. */
export const encodeExecuteSwap = (
  tokenSender: Hex,
  tokenReceiver: Hex,
  receiver: Hex,
  amount: bigint,
): Hex => {
  const words = [tokenSender, tokenReceiver, receiver].map(addressWord).join('')
  return `${executeSwap}${words}${amountWord(amount)}`
}

/** Makes a contract callable on a permissioned network. */
export const encodeAddTarget = (target: Hex): Hex => `${addTarget}${addressWord(target)}`

/** Asks the account rules. Value, gas price and gas limit are zero, because the rules are about parties. */
export const encodeTransactionAllowed = (sender: Hex, target: Hex, payload: Hex): Hex => {
  const bytes = payload.slice(2)
  const zero = amountWord(0n)
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
  const tail = `${amountWord(6n * 32n)}${amountWord(BigInt(bytes.length / 2))}${padded}`
  return `${transactionAllowed}${addressWord(sender)}${addressWord(target)}${zero}${zero}${zero}${tail}`
}

/** An address among a call's arguments, by its place. */
export const addressArgument = (data: Hex, place: number): Hex => `0x${word(data, place).slice(24)}`

export const amountArgument = (data: Hex, place: number): bigint => BigInt(`0x${word(data, place)}`)

const word = (data: Hex, place: number): string =>
  data.slice(selectorEnd + place * 64, selectorEnd + (place + 1) * 64)

/** `0x` and four bytes. */
const selectorEnd = 10

export const addressWord = (address: Hex): string => address.slice(2).padStart(64, '0')

export const amountWord = (amount: bigint): string => amount.toString(16).padStart(64, '0')
