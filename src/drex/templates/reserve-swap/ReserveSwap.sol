// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from '@openzeppelin/contracts/access/AccessControl.sol';
import {IERC20} from '@openzeppelin/contracts/token/ERC20/IERC20.sol';
import {SafeERC20} from '@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol';
import {ReentrancyGuard} from '@openzeppelin/contracts/utils/ReentrancyGuard.sol';

interface IRetail is IERC20 {
    function cnpj8() external view returns (uint256);
    function reserve() external view returns (address);
    function mint(address to, uint256 amount) external;
    function moveAndBurn(address from, uint256 amount) external;
}

/// @title An exchange of retail money between two institutions that the receiver has to accept.
/// @notice The shape of the pilot's SwapTwoStepsReserve: a proposal takes the sender's retail
/// money and the same sum of its institution's reserve into this contract; the receiver's
/// acceptance burns the one, hands the other to the receiver's institution, and mints the
/// receiver's retail money. What is cancelled, or accepted too late, goes back to where it came
/// from. This contract must be admitted to the three currencies, and needs MOVER_ROLE on the
/// sender's and MINTER_ROLE on the receiver's.
contract ReserveSwap is AccessControl, ReentrancyGuard {
    using SafeERC20 for IERC20;
    using SafeERC20 for IRetail;

    bytes32 public constant ACCESS_ROLE = keccak256('ACCESS_ROLE');
    /// How long a proposal may be accepted.
    uint256 public constant PROPOSAL_SECONDS = 60;

    enum Status {
        NONE,
        PENDING,
        EXECUTED,
        CANCELLED
    }

    struct Proposal {
        IRetail tokenSender;
        IRetail tokenReceiver;
        address sender;
        address receiver;
        /// Where the wholesale money came from.
        address reserve;
        uint256 amount;
        uint64 expiry;
        Status status;
    }

    IERC20 public immutable wholesale;
    uint256 public proposalCount;
    mapping(uint256 id => Proposal) public proposals;
    /// Retail currencies that may be exchanged here.
    mapping(address asset => bool) public approvedCurrencies;

    event SwapStarted(
        uint256 indexed proposalId,
        uint256 indexed senderNumber,
        uint256 indexed receiverNumber,
        address sender,
        address receiver,
        uint256 amount
    );
    event SwapExecuted(
        uint256 indexed proposalId,
        uint256 indexed senderNumber,
        uint256 indexed receiverNumber,
        address sender,
        address receiver,
        uint256 amount
    );
    event SwapCancelled(uint256 indexed proposalId, string reason);
    event ExpiredProposal(uint256 indexed proposalId);

    error InvalidTerms(string field);
    error CurrencyNotApproved(address asset);
    error NotPending(uint256 proposalId);
    error NotAllowed(address caller);

    constructor(address admin, address authority, IERC20 wholesale_) {
        if (address(wholesale_).code.length == 0) revert InvalidTerms('wholesale');
        wholesale = wholesale_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(ACCESS_ROLE, authority);
    }

    function setDigitalCurrencyApproval(
        address asset,
        bool approved
    ) external onlyRole(ACCESS_ROLE) {
        approvedCurrencies[asset] = approved;
    }

    function startSwap(
        IRetail tokenSender,
        IRetail tokenReceiver,
        address receiver,
        uint256 amount
    ) external nonReentrant {
        if (!approvedCurrencies[address(tokenSender)]) {
            revert CurrencyNotApproved(address(tokenSender));
        }
        if (!approvedCurrencies[address(tokenReceiver)]) {
            revert CurrencyNotApproved(address(tokenReceiver));
        }
        if (address(tokenSender) == address(tokenReceiver)) revert InvalidTerms('tokenReceiver');
        if (receiver == address(0)) revert InvalidTerms('receiver');
        if (amount == 0) revert InvalidTerms('amount');
        uint256 id = ++proposalCount;
        address reserve = tokenSender.reserve();
        proposals[id] = Proposal({
            tokenSender: tokenSender,
            tokenReceiver: tokenReceiver,
            sender: msg.sender,
            receiver: receiver,
            reserve: reserve,
            amount: amount,
            expiry: uint64(block.timestamp + PROPOSAL_SECONDS),
            status: Status.PENDING
        });
        emit SwapStarted(
            id,
            tokenSender.cnpj8(),
            tokenReceiver.cnpj8(),
            msg.sender,
            receiver,
            amount
        );
        tokenSender.safeTransferFrom(msg.sender, address(this), amount);
        wholesale.safeTransferFrom(reserve, address(this), amount);
    }

    /// @notice The receiver accepts. Too late, it does not revert: what was taken goes back.
    function executeSwap(uint256 proposalId) external nonReentrant {
        Proposal storage proposal = _pending(proposalId);
        if (msg.sender != proposal.receiver) revert NotAllowed(msg.sender);
        if (block.timestamp > proposal.expiry) {
            proposal.status = Status.CANCELLED;
            emit ExpiredProposal(proposalId);
            _giveBack(proposal);
            return;
        }
        proposal.status = Status.EXECUTED;
        emit SwapExecuted(
            proposalId,
            proposal.tokenSender.cnpj8(),
            proposal.tokenReceiver.cnpj8(),
            proposal.sender,
            proposal.receiver,
            proposal.amount
        );
        proposal.tokenSender.moveAndBurn(address(this), proposal.amount);
        wholesale.safeTransfer(proposal.tokenReceiver.reserve(), proposal.amount);
        proposal.tokenReceiver.mint(proposal.receiver, proposal.amount);
    }

    /// @notice Either side takes it back or refuses it, before or after its time.
    function cancelSwap(uint256 proposalId, string calldata reason) external nonReentrant {
        Proposal storage proposal = _pending(proposalId);
        if (msg.sender != proposal.sender && msg.sender != proposal.receiver) {
            revert NotAllowed(msg.sender);
        }
        proposal.status = Status.CANCELLED;
        emit SwapCancelled(proposalId, reason);
        _giveBack(proposal);
    }

    function _pending(uint256 proposalId) private view returns (Proposal storage proposal) {
        proposal = proposals[proposalId];
        if (proposal.status != Status.PENDING) revert NotPending(proposalId);
    }

    function _giveBack(Proposal storage proposal) private {
        proposal.tokenSender.safeTransfer(proposal.sender, proposal.amount);
        wholesale.safeTransfer(proposal.reserve, proposal.amount);
    }
}
