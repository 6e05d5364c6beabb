// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from '@openzeppelin/contracts/access/AccessControl.sol';
import {ERC20} from '@openzeppelin/contracts/token/ERC20/ERC20.sol';
import {Pausable} from '@openzeppelin/contracts/utils/Pausable.sol';

/// @title A two-decimal currency with authorised accounts and frozen balances.
/// @notice The shape of the pilot's RealDigital: an ERC-20 whose two parties must both be
/// authorised and whose sender may only spend what is not frozen. 100 units are R$ 1.00.
/// Names and events are the pilot's: `amount` in calls, nothing indexed but what ERC-20 indexes.
contract Currency is ERC20, AccessControl, Pausable {
    bytes32 public constant PAUSER_ROLE = keccak256('PAUSER_ROLE');
    bytes32 public constant MINTER_ROLE = keccak256('MINTER_ROLE');
    bytes32 public constant ACCESS_ROLE = keccak256('ACCESS_ROLE');
    bytes32 public constant MOVER_ROLE = keccak256('MOVER_ROLE');
    bytes32 public constant BURNER_ROLE = keccak256('BURNER_ROLE');
    bytes32 public constant FREEZER_ROLE = keccak256('FREEZER_ROLE');

    mapping(address account => bool) public authorizedAccounts;
    mapping(address account => uint256) public frozenBalanceOf;

    event EnabledAccount(address member);
    event DisabledAccount(address member);
    event FrozenBalance(address wallet, uint256 amount);

    error AccountNotAuthorized(address account);
    error InsufficientAvailableBalance(address account, uint256 available, uint256 needed);
    error AllowanceBelowZero(address spender, uint256 allowance, uint256 subtracted);
    error InsufficientFrozenBalance(address account, uint256 frozen, uint256 needed);

    constructor(string memory name_, string memory symbol_, address admin) ERC20(name_, symbol_) {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(PAUSER_ROLE, admin);
        _grantRole(MINTER_ROLE, admin);
        _grantRole(ACCESS_ROLE, admin);
        _grantRole(MOVER_ROLE, admin);
        _grantRole(BURNER_ROLE, admin);
        _grantRole(FREEZER_ROLE, admin);
        _enable(admin);
    }

    function decimals() public pure override returns (uint8) {
        return 2;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        return super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        return super.transferFrom(from, to, amount);
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        return super.approve(spender, amount);
    }

    function increaseAllowance(address spender, uint256 addedValue) external returns (bool) {
        _approve(_msgSender(), spender, allowance(_msgSender(), spender) + addedValue);
        return true;
    }

    function decreaseAllowance(address spender, uint256 subtractedValue) external returns (bool) {
        uint256 allowed = allowance(_msgSender(), spender);
        if (subtractedValue > allowed) revert AllowanceBelowZero(spender, allowed, subtractedValue);
        _approve(_msgSender(), spender, allowed - subtractedValue);
        return true;
    }

    function verifyAccount(address account) external view returns (bool) {
        return authorizedAccounts[account];
    }

    function enableAccount(address member) external onlyRole(ACCESS_ROLE) {
        _enable(member);
    }

    /// @notice Takes the authorisation away; the balance stays where it is.
    function disableAccount(address member) external onlyRole(ACCESS_ROLE) {
        authorizedAccounts[member] = false;
        emit DisabledAccount(member);
    }

    /// @notice Freezes more of a wallet's balance. What is frozen never exceeds the balance.
    function increaseFrozenBalance(address from, uint256 amount) external onlyRole(FREEZER_ROLE) {
        uint256 available = balanceOf(from) - frozenBalanceOf[from];
        if (amount > available) revert InsufficientAvailableBalance(from, available, amount);
        frozenBalanceOf[from] += amount;
        emit FrozenBalance(from, frozenBalanceOf[from]);
    }

    function decreaseFrozenBalance(address from, uint256 amount) external onlyRole(FREEZER_ROLE) {
        uint256 frozen = frozenBalanceOf[from];
        if (amount > frozen) revert InsufficientFrozenBalance(from, frozen, amount);
        frozenBalanceOf[from] = frozen - amount;
        emit FrozenBalance(from, frozen - amount);
    }

    function mint(address to, uint256 amount) external onlyRole(MINTER_ROLE) {
        _mint(to, amount);
    }

    function burn(uint256 amount) external onlyRole(BURNER_ROLE) {
        _burn(_msgSender(), amount);
    }

    function burnFrom(address account, uint256 amount) external onlyRole(BURNER_ROLE) {
        _spendAllowance(account, _msgSender(), amount);
        _burn(account, amount);
    }

    /// @notice Moves balance between two authorised wallets without the owner's signature.
    function move(address from, address to, uint256 amount) external onlyRole(MOVER_ROLE) {
        _transfer(from, to, amount);
    }

    function moveAndBurn(address from, uint256 amount) external onlyRole(MOVER_ROLE) {
        _burn(from, amount);
    }

    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
    }

    function _enable(address member) private {
        authorizedAccounts[member] = true;
        emit EnabledAccount(member);
    }

    function _update(address from, address to, uint256 value) internal override whenNotPaused {
        if (from != address(0)) {
            if (!authorizedAccounts[from]) revert AccountNotAuthorized(from);
            uint256 balance = balanceOf(from);
            uint256 frozen = frozenBalanceOf[from];
            // A plain lack of balance is left to ERC20's own error.
            if (value <= balance && value > balance - frozen) {
                revert InsufficientAvailableBalance(from, balance - frozen, value);
            }
        }
        if (to != address(0) && !authorizedAccounts[to]) revert AccountNotAuthorized(to);
        super._update(from, to, value);
    }
}
