/**
 * What a call does with money, told by target and selector: the ABI that a caller registered says nothing about what a
 * contract does.
 */

import type { Hex } from '../evm/hex.ts'
import { keccak256 } from '../evm/keccak.ts'

const encoder = new TextEncoder()

const selectorOf = (signature: string): Hex =>
  `0x${Buffer.from(keccak256(encoder.encode(signature)).subarray(0, 4)).toString('hex')}`

/** Moves tokens, or lets another account move them, at whatever contract: ERC-20, 777, 721, 1155, 1400, the pilot. */
export const movingFunctions = [
  'transfer(address,uint256)',
  'transferFrom(address,address,uint256)',
  'approve(address,uint256)',
  'increaseAllowance(address,uint256)',
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
  'transferAndCall(address,uint256)',
  'transferAndCall(address,uint256,bytes)',
  'approveAndCall(address,uint256,bytes)',
  'send(address,uint256,bytes)',
  'authorizeOperator(address)',
  'mint(address,uint256)',
  'burn(uint256)',
  'burnFrom(address,uint256)',
  'move(address,address,uint256)',
  'moveAndBurn(address,uint256)',
  'requestToMint(uint256)',
  'requestToBurn(uint256)',
  'safeTransferFrom(address,address,uint256)',
  'safeTransferFrom(address,address,uint256,bytes)',
  'safeTransferFrom(address,address,uint256,uint256,bytes)',
  'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
  'setApprovalForAll(address,bool)',
  'transferWithData(address,uint256,bytes)',
  'transferFromWithData(address,address,uint256,bytes)',
  'transferByPartition(bytes32,address,uint256,bytes)',
  'operatorTransferByPartition(bytes32,address,address,uint256,bytes,bytes)',
  'authorizeOperatorByPartition(bytes32,address)',
  'controllerTransfer(address,address,uint256,bytes,bytes)',
  'executeSwap(address,address,address,uint256)',
  'startSwap(address,address,address,uint256)',
  'executeSwap(uint256)',
  'cancelSwap(uint256,string)',
  'trade(uint256,address,address,uint8,(string,string,uint256),uint256,uint256)',
  'trade(uint256,uint256,uint256,uint8,(string,string,uint256),uint256,uint256)',
  'mint(address,uint256,uint256)',
  'mint(address,(string,string,uint256),uint256)',
  'burn(address,uint256,uint256)',
  'burn(address,(string,string,uint256),uint256)',
] as const

/** Functions that change rights at a token, or what it tells of itself, and move nothing. */
export const harmlessFunctions = [
  'enableAccount(address)',
  'disableAccount(address)',
  'pause()',
  'unpause()',
  'grantRole(bytes32,address)',
  'revokeRole(bytes32,address)',
  'renounceRole(bytes32,address)',
  'increaseFrozenBalance(address,uint256)',
  'decreaseFrozenBalance(address,uint256)',
  'decreaseAllowance(address,uint256)',
  'increaseFrozenBalance(address,(string,string,uint256),uint256)',
  'decreaseFrozenBalance(address,(string,string,uint256),uint256)',
  'createTPFt((string,string,uint256))',
  'enableAddress(address)',
  'disableAddress(address)',
  'setTpftIdPaused(uint256,bool)',
  'setAllowed(address,bool)',
  'setAllowlisted(address,bool)',
  'setMetadata(string,bytes32)',
  'setDocument(bytes32,string,bytes32)',
  'removeDocument(bytes32)',
  'renounceIssuance()',
  'renounceControl()',
  'revokeOperator(address)',
  'revokeOperatorByPartition(bytes32,address)',
  'accept()',
  'cancel()',
  'dispute(string)',
  'markOverdue()',
  'markDefaulted()',
] as const

const moving: ReadonlySet<string> = new Set(movingFunctions.map(selectorOf))
const harmless: ReadonlySet<string> = new Set(harmlessFunctions.map(selectorOf))

/** A selector and what follows it. */
type CallData = Hex

/** @param isMoney the target is a token or holds money, as far as we know: then only what is known as harmless is */
export const movesMoney = (data: CallData, isMoney: boolean): boolean => {
  const selector = data.slice(0, 10).toLowerCase()
  return isMoney ? !harmless.has(selector) : moving.has(selector)
}
