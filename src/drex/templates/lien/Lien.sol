// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from '@openzeppelin/contracts/token/ERC20/IERC20.sol';
import {SafeERC20} from '@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol';
import {Context} from '@openzeppelin/contracts/utils/Context.sol';
import {ReentrancyGuard} from '@openzeppelin/contracts/utils/ReentrancyGuard.sol';

/// @title Holds an owner's tokens as security for a beneficiary.
/// @notice What is pledged stays the owner's and cannot move: only the beneficiary lets it go, in
/// parts or whole, and from the expiry on the owner takes back what is left. The beneficiary may
/// put the expiry off only with the owner's consent, and can never take the tokens.
contract Lien is Context, ReentrancyGuard {
    using SafeERC20 for IERC20;

    IERC20 public immutable token;
    address public immutable owner;
    address public immutable beneficiary;
    /// Hash of the secured contract's document.
    bytes32 public immutable documentHash;
    /// Unix seconds; from then on the owner may take back what is left.
    uint64 public expiry;
    /// A later expiry that the beneficiary has proposed; zero while there is none.
    uint64 public proposedExpiry;
    uint256 public pledged;

    event Pledged(address indexed owner, uint256 amount, uint256 pledged);
    event Released(address indexed beneficiary, uint256 amount, uint256 pledged);
    event Expired(address indexed owner, uint256 amount);
    event ExtensionProposed(uint64 expiry);
    event Extended(uint64 expiry);
    event Recovered(address indexed token, uint256 amount);

    error InvalidTerms(string field);
    error NotAllowed(address caller);
    error NotYetExpired(uint64 expiry);
    error AlreadyExpired(uint64 expiry);
    error InvalidAmount(uint256 amount, uint256 available);
    error UnexpectedAmountReceived(uint256 received, uint256 expected);
    error NothingProposed(uint64 expiry);

    constructor(
        IERC20 token_,
        address owner_,
        address beneficiary_,
        bytes32 documentHash_,
        uint64 expiry_
    ) {
        if (address(token_).code.length == 0) revert InvalidTerms('token');
        if (owner_ == address(0)) revert InvalidTerms('owner');
        if (beneficiary_ == address(0) || beneficiary_ == owner_) revert InvalidTerms('beneficiary');
        if (expiry_ <= block.timestamp) revert InvalidTerms('expiry');
        token = token_;
        owner = owner_;
        beneficiary = beneficiary_;
        documentHash = documentHash_;
        expiry = expiry_;
    }

    modifier only(address party) {
        if (_msgSender() != party) revert NotAllowed(_msgSender());
        _;
    }

    modifier inForce() {
        if (block.timestamp >= expiry) revert AlreadyExpired(expiry);
        _;
    }

    /// @notice The owner adds to what secures the beneficiary, as far as allowed to this contract.
    function pledge(uint256 amount) external nonReentrant only(owner) inForce {
        if (amount == 0) revert InvalidAmount(amount, pledged);
        pledged += amount;
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(owner, address(this), amount);
        uint256 received = token.balanceOf(address(this)) - before;
        if (received != amount) revert UnexpectedAmountReceived(received, amount);
        emit Pledged(owner, amount, pledged);
    }

    /// @notice The beneficiary lets go of a part, or of all, before or after the expiry.
    function release(uint256 amount) external nonReentrant only(beneficiary) {
        if (amount == 0 || amount > pledged) revert InvalidAmount(amount, pledged);
        pledged -= amount;
        emit Released(beneficiary, amount, pledged);
        token.safeTransfer(owner, amount);
    }

    /// @notice From the expiry on, the owner takes back what is left.
    function reclaim() external nonReentrant only(owner) {
        if (block.timestamp < expiry) revert NotYetExpired(expiry);
        uint256 amount = pledged;
        if (amount == 0) revert InvalidAmount(amount, pledged);
        pledged = 0;
        emit Expired(owner, amount);
        token.safeTransfer(owner, amount);
    }

    /// @notice The beneficiary asks for a later expiry; it holds once the owner accepts this very one.
    function proposeExtension(uint64 expiry_) external only(beneficiary) inForce {
        if (expiry_ <= expiry) revert InvalidTerms('expiry');
        proposedExpiry = expiry_;
        emit ExtensionProposed(expiry_);
    }

    function acceptExtension(uint64 expiry_) external only(owner) inForce {
        if (expiry_ == 0 || expiry_ != proposedExpiry) revert NothingProposed(expiry_);
        expiry = expiry_;
        proposedExpiry = 0;
        emit Extended(expiry_);
    }

    /// @notice The owner gets back what came here by plain transfer and secures nothing.
    function recover(IERC20 other) external nonReentrant only(owner) {
        uint256 held = other.balanceOf(address(this));
        uint256 amount = address(other) == address(token) ? held - pledged : held;
        if (amount == 0) revert InvalidAmount(amount, held);
        emit Recovered(address(other), amount);
        other.safeTransfer(owner, amount);
    }
}
