"""How events arrive: Socket Mode or HTTP."""
