// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from '@openzeppelin/contracts/token/ERC20/IERC20.sol';
import {SafeERC20} from '@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol';
import {Context} from '@openzeppelin/contracts/utils/Context.sol';
import {ReentrancyGuard} from '@openzeppelin/contracts/utils/ReentrancyGuard.sol';

/// @title Holds one payment between a payer and a payee until one of them, or an arbiter, decides.
/// @notice Created -> Funded -> Released | Refunded | Disputed -> Resolved. Money leaves by
/// withdrawal: each party pulls what the outcome gave it, so no party can block the other. An
/// arbiter who stays silent blocks nobody either: the terms say what happens then.
contract Escrow is Context, ReentrancyGuard {
    using SafeERC20 for IERC20;

    enum Status {
        Created,
        Funded,
        Disputed,
        Released,
        Refunded,
        Resolved
    }

    struct Terms {
        IERC20 token;
        address payer;
        address payee;
        address arbiter;
        uint256 amount;
        /// Unix seconds; from then on anyone may trigger the refund of an undisputed escrow.
        uint64 deadline;
        /// Hash of the agreed condition; zero when there is none.
        bytes32 conditionHash;
        /// Taken from what the payee receives.
        uint16 feeBps;
        address feeRecipient;
        /// Time that the arbiter has from the dispute on.
        uint64 arbitrationSeconds;
        /// The payee's part, gross of the fee, when the arbiter stays silent.
        uint16 silencePayeeBps;
    }

    uint256 private constant BPS = 10_000;
    uint256 private constant FEE_BPS_MAX = 1_000;

    IERC20 public immutable token;
    address public immutable payer;
    address public immutable payee;
    address public immutable arbiter;
    uint256 public immutable amount;
    uint64 public immutable deadline;
    bytes32 public immutable conditionHash;
    uint16 public immutable feeBps;
    address public immutable feeRecipient;
    uint64 public immutable arbitrationSeconds;
    uint16 public immutable silencePayeeBps;

    Status public status;
    mapping(address party => uint256) public withdrawable;
    /// Unix seconds; from then on anyone may end a dispute. Zero while there is none.
    uint64 public arbitrationEnd;
    /// What is held for the parties; whatever else came here belongs to no outcome.
    uint256 public owed;

    event Funded(address indexed payer, uint256 amount);
    event Released(uint256 toPayee, uint256 fee);
    event Refunded(address indexed by, uint256 amount);
    event Disputed(address indexed by, string reason);
    event Resolved(uint256 toPayee, uint256 toPayer, uint256 fee);
    event Withdrawn(address indexed party, uint256 amount);
    event Recovered(address indexed token, address indexed to, uint256 amount);

    error InvalidTerms(string field);
    error NotAllowed(address caller);
    error WrongStatus(Status status);
    error DeadlinePassed(uint64 deadline);
    error SplitOutOfRange(uint256 toPayee, uint256 amount);
    error NothingToWithdraw(address party);
    error NothingToRecover(address token);
    error TooEarly(uint64 notBefore);
    error UnexpectedAmountReceived(uint256 received, uint256 expected);

    constructor(Terms memory terms) {
        if (address(terms.token).code.length == 0) revert InvalidTerms('token');
        if (terms.payer == address(0)) revert InvalidTerms('payer');
        if (terms.payee == address(0) || terms.payee == terms.payer) revert InvalidTerms('payee');
        if (
            terms.arbiter == address(0) ||
            terms.arbiter == terms.payer ||
            terms.arbiter == terms.payee
        ) revert InvalidTerms('arbiter');
        if (terms.amount == 0) revert InvalidTerms('amount');
        if (terms.deadline <= block.timestamp) revert InvalidTerms('deadline');
        if (terms.feeBps > FEE_BPS_MAX) revert InvalidTerms('feeBps');
        if (terms.feeBps != 0 && terms.feeRecipient == address(0)) {
            revert InvalidTerms('feeRecipient');
        }
        if (terms.arbitrationSeconds == 0) revert InvalidTerms('arbitrationSeconds');
        if (terms.silencePayeeBps > BPS) revert InvalidTerms('silencePayeeBps');
        token = terms.token;
        payer = terms.payer;
        payee = terms.payee;
        arbiter = terms.arbiter;
        amount = terms.amount;
        deadline = terms.deadline;
        conditionHash = terms.conditionHash;
        feeBps = terms.feeBps;
        feeRecipient = terms.feeRecipient;
        arbitrationSeconds = terms.arbitrationSeconds;
        silencePayeeBps = terms.silencePayeeBps;
    }

    modifier inStatus(Status expected) {
        if (status != expected) revert WrongStatus(status);
        _;
    }

    /// @notice Pulls the agreed amount from the payer, who must have approved it.
    function fund() external nonReentrant inStatus(Status.Created) {
        if (_msgSender() != payer) revert NotAllowed(_msgSender());
        if (block.timestamp >= deadline) revert DeadlinePassed(deadline);
        status = Status.Funded;
        owed = amount;
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(payer, address(this), amount);
        uint256 received = token.balanceOf(address(this)) - before;
        if (received != amount) revert UnexpectedAmountReceived(received, amount);
        emit Funded(payer, amount);
    }

    /// @notice The payer confirms that the payee has performed.
    function release() external inStatus(Status.Funded) {
        if (_msgSender() != payer) revert NotAllowed(_msgSender());
        status = Status.Released;
        (uint256 net, uint256 fee) = _credit(amount);
        emit Released(net, fee);
    }

    /// @notice The payee gives the money back, or anyone does once the deadline has passed.
    function refund() external inStatus(Status.Funded) {
        if (_msgSender() != payee && block.timestamp < deadline) revert NotAllowed(_msgSender());
        status = Status.Refunded;
        withdrawable[payer] += amount;
        emit Refunded(_msgSender(), amount);
    }

    /// @notice Either party stops the clock and asks the arbiter.
    function dispute(string calldata reason) external inStatus(Status.Funded) {
        if (_msgSender() != payer && _msgSender() != payee) revert NotAllowed(_msgSender());
        status = Status.Disputed;
        arbitrationEnd = uint64(block.timestamp) + arbitrationSeconds;
        emit Disputed(_msgSender(), reason);
    }

    /// @notice The arbiter splits the amount: `toPayee` gross of the fee, the rest to the payer.
    function resolve(uint256 toPayee) external inStatus(Status.Disputed) {
        if (_msgSender() != arbiter) revert NotAllowed(_msgSender());
        if (toPayee > amount) revert SplitOutOfRange(toPayee, amount);
        _split(toPayee);
    }

    /// @notice Ends a dispute that the arbiter left undecided, as the terms say. Anyone may.
    function resolveSilence() external inStatus(Status.Disputed) {
        if (block.timestamp < arbitrationEnd) revert TooEarly(arbitrationEnd);
        _split((amount * silencePayeeBps) / BPS);
    }

    function _split(uint256 toPayee) private {
        status = Status.Resolved;
        withdrawable[payer] += amount - toPayee;
        (uint256 net, uint256 fee) = _credit(toPayee);
        emit Resolved(net, amount - toPayee, fee);
    }

    /// @notice Pays the caller what the outcome gave it.
    function withdraw() external nonReentrant returns (uint256 paid) {
        paid = withdrawable[_msgSender()];
        if (paid == 0) revert NothingToWithdraw(_msgSender());
        withdrawable[_msgSender()] = 0;
        owed -= paid;
        token.safeTransfer(_msgSender(), paid);
        emit Withdrawn(_msgSender(), paid);
    }

    /// @notice Gives the payer what came by plain transfer: of the escrow's token what is not owed
    /// to anybody, of any other token all. Anyone may ask for it.
    function recover(IERC20 other) external nonReentrant returns (uint256 surplus) {
        surplus = other.balanceOf(address(this));
        if (address(other) == address(token)) surplus -= owed;
        if (surplus == 0) revert NothingToRecover(address(other));
        other.safeTransfer(payer, surplus);
        emit Recovered(address(other), payer, surplus);
    }

    function _credit(uint256 gross) private returns (uint256 net, uint256 fee) {
        fee = (gross * feeBps) / BPS;
        net = gross - fee;
        withdrawable[payee] += net;
        if (fee != 0) withdrawable[feeRecipient] += fee;
    }
}
