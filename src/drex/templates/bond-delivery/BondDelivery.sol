// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from '@openzeppelin/contracts/token/ERC20/IERC20.sol';
import {SafeERC20} from '@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol';
import {IERC1155} from '@openzeppelin/contracts/token/ERC1155/IERC1155.sol';
import {ReentrancyGuard} from '@openzeppelin/contracts/utils/ReentrancyGuard.sol';

interface IBond is IERC1155 {
    struct TPFtData {
        string acronym;
        string code;
        uint256 maturityDate;
    }

    function getTPFtId(TPFtData memory data) external view returns (uint256);
}

/// @title Bonds against money, both or neither.
/// @notice The shape of the pilot's trades between wallets (operation 1052): seller and buyer send
/// the same terms under the same number, and the second of them settles. The seller lets this
/// contract move its bonds (`setApprovalForAll`), the buyer its money (`approve`).
contract BondDelivery is ReentrancyGuard {
    using SafeERC20 for IERC20;

    /// Unit prices have eight decimals; amounts of bonds have as many as the money.
    uint256 public constant PRICE_UNIT = 10 ** 8;

    enum Status {
        NONE,
        /// One side has commanded it.
        PENDING,
        SETTLED,
        CANCELLED
    }

    struct Operation {
        bytes32 terms;
        address first;
        Status status;
    }

    IERC20 public immutable money;
    IBond public immutable bond;
    mapping(uint256 operationId => Operation) public operations;

    event TradeCommanded(uint256 indexed operationId, address indexed caller, bytes32 terms);
    event TradeSettled(
        uint256 indexed operationId,
        address indexed sender,
        address indexed receiver,
        uint256 id,
        uint256 amount,
        uint256 price
    );
    event TradeCancelled(uint256 indexed operationId, string reason);

    error InvalidTerms(string field);
    error NotAllowed(address caller);
    error NotPending(uint256 operationId);
    error TermsDiffer(uint256 operationId);
    error UnexpectedAmountReceived(uint256 received, uint256 expected);

    constructor(IERC20 money_, IBond bond_) {
        if (address(money_).code.length == 0) revert InvalidTerms('money');
        if (address(bond_).code.length == 0) revert InvalidTerms('bond');
        money = money_;
        bond = bond_;
    }

    /// @notice What an amount of bonds costs, in the money's smallest unit, cut off.
    function priceOf(uint256 amount, uint256 unitPrice) public pure returns (uint256) {
        return (amount * unitPrice) / PRICE_UNIT;
    }

    /// @param sender delivers the bonds and gets the money
    /// @param callerPart 0 if the sender calls, 1 if the receiver does
    function trade(
        uint256 operationId,
        address sender,
        address receiver,
        uint8 callerPart,
        IBond.TPFtData calldata tpftData,
        uint256 tpftAmount,
        uint256 unitPrice
    ) external nonReentrant {
        if (callerPart > 1) revert InvalidTerms('callerPart');
        if (msg.sender != (callerPart == 0 ? sender : receiver)) revert NotAllowed(msg.sender);
        if (sender == receiver) revert InvalidTerms('receiver');
        uint256 id = bond.getTPFtId(tpftData);
        if (id == 0) revert InvalidTerms('tpftData');
        uint256 price = priceOf(tpftAmount, unitPrice);
        if (price == 0) revert InvalidTerms('tpftAmount');
        bytes32 terms = keccak256(abi.encode(sender, receiver, id, tpftAmount, unitPrice));
        Operation storage operation = operations[operationId];
        if (operation.status == Status.NONE) {
            operations[operationId] = Operation(terms, msg.sender, Status.PENDING);
            emit TradeCommanded(operationId, msg.sender, terms);
            return;
        }
        if (operation.status != Status.PENDING) revert NotPending(operationId);
        if (operation.first == msg.sender) revert NotAllowed(msg.sender);
        if (operation.terms != terms) revert TermsDiffer(operationId);
        operation.status = Status.SETTLED;
        emit TradeSettled(operationId, sender, receiver, id, tpftAmount, price);
        uint256 before = money.balanceOf(sender);
        money.safeTransferFrom(receiver, sender, price);
        uint256 received = money.balanceOf(sender) - before;
        if (received != price) revert UnexpectedAmountReceived(received, price);
        bond.safeTransferFrom(sender, receiver, id, tpftAmount, '');
    }

    /// @notice Whoever commanded first takes it back, while the other side has not.
    function cancel(uint256 operationId, string calldata reason) external {
        Operation storage operation = operations[operationId];
        if (operation.status != Status.PENDING) revert NotPending(operationId);
        if (operation.first != msg.sender) revert NotAllowed(msg.sender);
        operation.status = Status.CANCELLED;
        emit TradeCancelled(operationId, reason);
    }
}
